// Looks, line by line, at the files of given projects as the adapter does.
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";

const folder = process.argv[2];
const { buildSync } = createRequire(join(folder, "package.json"))("esbuild");
const entryPoints = [join(folder, "src", "documents.ts")];
const { outputFiles } = buildSync({ entryPoints, bundle: true, platform: "node", format: "esm", write: false });
const { Documents } = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);

const projects = new Map();
for await (const line of createInterface({ input: process.stdin })) {
  const { root, guides } = JSON.parse(line);
  const notes = [];
  const project = projects.get(root) ?? { log: {} };
  projects.set(root, project);
  project.log.note = (what, details) => notes.push([details.path, details.reason]);
  project.documents ??= new Documents(root, project.log);
  const looks = await Promise.allSettled(guides.map((guide) => project.documents.changes("project", guide)));
  const reports = looks.map(({ value, reason }) => (reason ? String(reason) : value));
  console.log(JSON.stringify({ reports, notes }));
}
