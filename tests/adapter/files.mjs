// What the adapter's own files are after one of its ways of writing.
import { closeSync, writeSync } from "node:fs";
import { core } from "./disk.mjs";

const [folder, path, way] = process.argv.slice(2);
const { appendOwn, makeFolder, openEmpty, writeOwn } = await core(folder, "files");
const ways = {
  append: () => appendOwn(path, "new"),
  write: () => writeOwn(path, "new"),
  empty: () => {
    const file = openEmpty(path);
    writeSync(file, "new");
    closeSync(file);
  },
  folder: () => makeFolder(path),
};
try {
  ways[way]();
  console.log("done");
} catch (error) {
  console.log(String(error));
}
