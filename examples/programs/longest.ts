// All files, however many pages they take.
let listing = await tools.list_dir({ path: ".", recursive: true });
const entries = listing.entries;
while (listing.next !== undefined) {
  listing = await tools.list_dir({ path: ".", recursive: true, cursor: listing.next });
  entries.push(...listing.entries);
}
const candidates = entries
  .filter((entry) => entry.kind === "file" && entry.bytes < 256 * 1024)
  .sort((a, b) => b.bytes - a.bytes)
  .slice(0, 24);

// The reads are independent: let them overlap.
const outcomes = await Promise.allSettled(
  candidates.map(async ({ path }) => {
    const { text, totalLines } = await tools.read_file({ path });
    const lengths = text.split("\n").map((line) => line.length);
    return { path, lines: totalLines, longestLine: lengths.reduce((longest, length) => Math.max(longest, length), 0) };
  }),
);
const read = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
console.log(`${read.length} of the ${candidates.length} largest files below 256 KiB are text`);
return read.sort((a, b) => b.lines - a.lines).slice(0, 4);
