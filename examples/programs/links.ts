// Collect every web address, page by page, and count by host.
const hosts = new Map<string, { links: number; files: Set<string> }>();
let cursor: string | undefined;
let pages = 0;
do {
  const page = await tools.search_text({
    pattern: "https?://[A-Za-z0-9]",
    maxResults: 250,
    ...(cursor === undefined ? {} : { cursor }),
  });
  for (const { path, text } of page.matches) {
    for (const [, host] of text.matchAll(/https?:\/\/([A-Za-z0-9.-]+)/g)) {
      const seen = hosts.get(host) ?? { links: 0, files: new Set<string>() };
      seen.links += 1;
      seen.files.add(path);
      hosts.set(host, seen);
    }
  }
  cursor = page.next;
  pages += 1;
} while (cursor !== undefined && pages < 20);

const ranked = [...hosts].sort(([, a], [, b]) => b.links - a.links);
console.log(`${ranked.length} hosts${cursor === undefined ? "" : " in the first 5000 lines"}`);
return ranked.slice(0, 5).map(([host, { links, files }]) => ({ host, links, files: files.size }));
