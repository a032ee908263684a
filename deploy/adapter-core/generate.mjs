// Writes the types of the wire, `src/wire.ts`, from the schemas of the language; `--check` says whether they are stale.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { compile } from "json-schema-to-typescript";

const HERE = dirname(fileURLToPath(import.meta.url));
const SCHEMAS = join(HERE, "..", "..", "schemas", "json");
const OUT = join(HERE, "src", "wire.ts");
/** What an adapter sends, asks for and is answered; the facts of the log are none of its business. */
const NAMES = ["inbox", "asks", "plan", "commands"];
const BANNER = "/** The types of the wire, generated from `schemas/json`: `make schema` writes this file. */";
const ROOT = "Wire";
/** What the generator says of the schema that only holds the others. */
const EMPTY = `export interface ${ROOT} {}\n`;
const REFERRED = /(?:\n \*)?\n \* This interface was referenced by [^\n]*\n \* via the `definition` [^\n]*(\n \*\/)/g;

/** All definitions of these schemas in one. Where two schemas define the same name, they must mean the same. */
function definitions() {
  const all = {};
  for (const name of NAMES) {
    const { $defs } = JSON.parse(readFileSync(join(SCHEMAS, `${name}.schema.json`), "utf8"));
    for (const [key, definition] of Object.entries($defs)) {
      if (key in all && !isDeepStrictEqual(all[key], definition)) {
        throw new Error(
          `${name}.schema.json defines ${key} otherwise than another schema: give one of them another name`,
        );
      }
      all[key] = definition;
    }
  }
  return all;
}

/** A reference with a default next to it would become a separate type, with a number at the end of its name. */
const withoutDefaults = (key, value) => (key === "default" ? undefined : value);

async function generated() {
  const $defs = JSON.parse(JSON.stringify(definitions(), withoutDefaults));
  const text = await compile({ title: ROOT, type: "object", properties: {}, $defs }, ROOT, {
    additionalProperties: false,
    bannerComment: BANNER,
    cwd: SCHEMAS,
    format: true,
    style: { printWidth: 120, singleQuote: false },
    unreachableDefinitions: true,
  });
  return text.replace(EMPTY, "").replace(REFERRED, "$1");
}

const text = await generated();
if (!process.argv.includes("--check")) writeFileSync(OUT, text);
else if (readFileSync(OUT, { encoding: "utf8", flag: "a+" }) !== text) {
  console.error("src/wire.ts is stale: run `make schema`, and commit what it writes.");
  process.exitCode = 1;
}
