// What the adapter's own files are after one of its ways of writing, and what each of its readers makes of a file.
import { closeSync, writeSync } from "node:fs";
import { core } from "./disk.mjs";

const [folder, path, way] = process.argv.slice(2);
const { appendOwn, makeFolder, openEmpty, readOwn, writeOwn } = await core(folder, "files");
const { endpoint } = await core(folder, "endpoint");
const { ModelFacts } = await core(folder, "models");
const { read } = await core(folder, "lines");
const ways = {
  append: () => appendOwn(path, "new"),
  write: () => writeOwn(path, "new"),
  empty: () => {
    const file = openEmpty(path);
    writeSync(file, "new");
    closeSync(file);
  },
  folder: () => makeFolder(path),
  "read a text": () => readOwn(path),
  "read an address": () => endpoint({ broker: path }).url,
  "read facts of models": () => String(new ModelFacts(path).of("p", "m").context_limit ?? "nothing"),
  "read lines": () => read(path).values[0].url,
};
try {
  console.log(ways[way]() ?? "done");
} catch (error) {
  console.log(String(error));
}
