// Page through the whole tree and keep one sum per file type.
const sums = new Map<string, { files: number; bytes: number }>();
let args: Parameters<typeof tools.list_dir>[0] = { path: ".", recursive: true, limit: 100 };
for (;;) {
  const page = await tools.list_dir(args);
  for (const { name, kind, bytes } of page.entries) {
    if (kind !== "file") continue;
    const type = /.\.(\w+)$/.exec(name)?.[1] ?? "(none)";
    const sum = sums.get(type) ?? { files: 0, bytes: 0 };
    sums.set(type, { files: sum.files + 1, bytes: sum.bytes + bytes });
  }
  if (page.next === undefined) break;
  args = { ...args, cursor: page.next };
}

const all = [...sums.values()];
console.log(`${all.reduce((n, sum) => n + sum.files, 0)} files, ${all.reduce((n, sum) => n + sum.bytes, 0)} bytes`);
const largest = [...sums].sort(([, a], [, b]) => b.bytes - a.bytes).slice(0, 6);
return largest.map(([type, { files, bytes }]) => `${type}: ${files} files, ${bytes} bytes`).join("\n");
