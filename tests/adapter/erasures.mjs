// Connects the adapter's core to a broker, and reports when its spool is empty.
import { createRequire } from "node:module";
import { join } from "node:path";

const [core, options, root] = process.argv.slice(2);
const { buildSync } = createRequire(join(core, "package.json"))("esbuild");
const outfile = join(root, "service.mjs");
buildSync({
  entryPoints: [join(core, "src", "service.ts")],
  banner: { js: 'import{createRequire}from"node:module";const require=createRequire(import.meta.url);' },
  bundle: true,
  platform: "node",
  format: "esm",
  outfile,
});
const { Service } = await import(outfile);
const service = new Service({ harness: "opencode", bundle: import.meta.url }, JSON.parse(options));
await service.outbox.flushed();
process.exit(0); // the connection is made again for ever
