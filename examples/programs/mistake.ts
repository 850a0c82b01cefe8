// How large are the files at the top?
const listing = await tools.list_dir({ path: "." });
const sizes = listing
  .filter((entry) => entry.kind === "file")
  .map((entry) => entry.bytes);
return sizes.reduce((sum, bytes) => sum + bytes, 0);
