// Prints a table: tokens of the tools of each server as JSON, as our TypeScript and as that of @cloudflare/codemode.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { createRequire, register } from 'node:module';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const PEER = '@cloudflare/codemode@0.5.6';
const TOKENIZER = 'tiktoken@1.0.22';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const folder = process.argv[2] ?? defaultFolder();
const codeMode = process.argv[3] ?? join(process.env.CARGO_TARGET_DIR ?? join(root, 'target'), 'debug/code-mode');
if (!existsSync(codeMode)) fail(`${codeMode}: no such file: build it first, cargo build -p code-mode-cli`);

const { generateTypesFromJsonSchema, count } = await install();
const rows = [];
for (const file of readdirSync(folder).filter((file) => file.endsWith('.json')).sort()) {
  rows.push(measure(join(folder, file)));
}
if (rows.length === 0) fail(`${folder}: there are no .json files in it`);
print(rows);

function measure(path) {
  const list = JSON.parse(readFileSync(path, 'utf8'));
  const tools = list.map(({ name, description, inputSchema, outputSchema }) => ({ name, description, inputSchema, outputSchema }));
  const descriptors = {};
  for (const { name, description, inputSchema, outputSchema } of tools) {
    descriptors[name] = { description, inputSchema: inputSchema ?? {}, outputSchema };
  }
  const run = (...flags) => execFileSync(codeMode, ['sdk', '--tools', path, ...flags], { encoding: 'utf8' });
  const ours = count(run('--declarations').trimEnd());
  const stats = JSON.parse(run('--stats', '--json')).total;
  const json = count(JSON.stringify(tools));
  if (ours !== stats.sdkTokens) fail(`${path}: ${ours} tokens are ${stats.sdkTokens} to code-mode sdk --stats`);
  return {
    name: basename(path, '.json'),
    tools: tools.length,
    json,
    ours,
    peer: count(generateTypesFromJsonSchema(descriptors)),
    descriptions: descriptions(tools),
  };
}

/** Tokens of all descriptions, which stand under a key of that name beside others of a schema or a tool. */
function descriptions(value) {
  if (Array.isArray(value)) return value.reduce((sum, item) => sum + descriptions(item), 0);
  if (value === null || typeof value !== 'object') return 0;
  return Object.entries(value).reduce(
    (sum, [key, inner]) =>
      sum + (key === 'description' && typeof inner === 'string' ? count(inner) : descriptions(inner)),
    0,
  );
}

function print(rows) {
  const total = { name: '**all**', tools: 0, json: 0, ours: 0, peer: 0, descriptions: 0 };
  for (const row of rows) {
    for (const key of ['tools', 'json', 'ours', 'peer', 'descriptions']) total[key] += row[key];
  }
  console.log('| server | tools | JSON | ours | ours / JSON | peer | ours / peer | descriptions alone |');
  console.log('|---|---:|---:|---:|---:|---:|---:|---:|');
  for (const { name, tools, json, ours, peer, descriptions } of [...rows, total]) {
    const ratios = [ours / json, ours / peer].map((ratio) => ratio.toFixed(2));
    console.log(`| ${name} | ${tools} | ${json} | ${ours} | ${ratios[0]} | ${peer} | ${ratios[1]} | ${descriptions} |`);
  }
}

/** Installs both packages once; gives the peer's generator and a counter of tokens. */
async function install() {
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'code-mode/peers/cloudflare-codemode');
  const modules = join(cache, 'node_modules');
  if (!existsSync(join(modules, '@cloudflare/codemode')) || !existsSync(join(modules, 'tiktoken'))) {
    mkdirSync(cache, { recursive: true });
    const flags = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--silent', '--prefix', cache];
    execFileSync('npm', [...flags, PEER, TOKENIZER], { stdio: 'inherit' });
  }
  // Its modules extend classes of the Workers runtime when loaded; the generator needs none of them.
  const stub = 'export class DurableObject {} export class RpcTarget {} export class WorkerEntrypoint {}';
  const hook = `export const resolve = (name, context, next) => name.startsWith('cloudflare:')
    ? { url: 'data:text/javascript,' + encodeURIComponent(${JSON.stringify(stub)}), shortCircuit: true }
    : next(name, context)`;
  register(`data:text/javascript,${encodeURIComponent(hook)}`);
  const { generateTypesFromJsonSchema } = await import(
    pathToFileURL(join(modules, '@cloudflare/codemode/dist/index.js')).href
  );
  const { get_encoding: encoding } = createRequire(join(cache, 'package.json'))('tiktoken');
  const o200k = encoding('o200k_base');
  // Text that looks like a special token is text.
  return { generateTypesFromJsonSchema, count: (text) => o200k.encode(text, [], []).length };
}

function defaultFolder() {
  const corpora = [process.env.CODE_MODE_CORPUS, join(root, '../shared/corpus'), join(root, 'tests/fixtures')];
  return corpora.filter(Boolean).map((corpus) => join(corpus, 'mcp-tools')).find(existsSync);
}

function fail(problem) {
  console.error(`peers: ${problem}`);
  process.exit(1);
}
