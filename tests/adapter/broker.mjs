// Prints, line by line, what the adapter's core notes of its connection to a broker.
import { createRequire } from "node:module";
import { join } from "node:path";

const [core, options, root] = process.argv.slice(2);
const { buildSync } = createRequire(join(core, "package.json"))("esbuild");
const outfile = join(root, "broker.mjs");
buildSync({
  entryPoints: [join(core, "src", "broker.ts")],
  banner: { js: 'import{createRequire}from"node:module";const require=createRequire(import.meta.url);' },
  bundle: true,
  platform: "node",
  format: "esm",
  outfile,
});
const { Broker } = await import(outfile);
new Broker(JSON.parse(options), { note: (what, details) => console.log(JSON.stringify([what, details])) }, "ed");
