import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const { version } = JSON.parse(readFileSync("package.json", "utf8"));
// some of the bundled modules are CommonJS and ask for node's own modules at run time
const REQUIRE = 'import{createRequire as annalsRequire}from"node:module";const require=annalsRequire(import.meta.url);';

async function bundle(entry, out) {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    platform: "node",
    format: "esm",
    target: "es2022",
    legalComments: "none",
    define: { ANNALS_VERSION: JSON.stringify(version) },
    banner: { js: REQUIRE },
    write: false,
  });
  const code = `// Annals for OpenCode ${version}\n${outputFiles[0].text}`;
  mkdirSync("dist", { recursive: true });
  writeFileSync(out, code);
  console.log(`${out} ${createHash("sha256").update(code).digest("hex").slice(0, 12)} ${code.length} bytes`);
}

await bundle("src/index.ts", "dist/annals.mjs");
await bundle("src/pure.ts", "dist/pure.mjs");
