const names = ["README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"];
const missing: string[] = [];
for (const path of names) {
  try {
    const { text, totalLines } = await tools.read_file({ path, limit: 20 });
    const title = text.split("\n").find((line) => line.trim() !== "") ?? "(empty)";
    console.log(`${path} (${totalLines} lines): ${title.replace(/^#+\s*/, "").slice(0, 80)}`);
  } catch (error) {
    if (!(error instanceof ToolCallError)) throw error;
    missing.push(`${error.toolName}: ${error.message}`);
  }
}
return { missing };
