// Runs JavaScript bodies of async functions, one JSON string a line, and prints what came of each, a line each.
import { createInterface } from "node:readline";

const AsyncFunction = (async () => {}).constructor;
const programs = [];
for await (const line of createInterface({ input: process.stdin })) programs.push(JSON.parse(line));

for (const program of programs) {
  const logs = [];
  // Generated programs print strings only.
  const log = (...parts) => void logs.push(parts.join(" "));
  const console = { log, info: log, warn: log, error: log, debug: log };
  let outcome;
  try {
    const run = new AsyncFunction("console", `"use strict";\n${program}`);
    outcome = { logs, result: await run(console) };
  } catch {
    outcome = { logs, kind: "exception" };
  }
  process.stdout.write(`${JSON.stringify(outcome)}\n`);
}
