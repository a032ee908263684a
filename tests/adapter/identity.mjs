// Names, line by line, the project of a directory.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const folder = process.argv[2];
const { buildSync } = createRequire(`${folder}/package.json`)("esbuild");
const contents = 'export { identify } from "./identity.ts"; export { beginning } from "./repository.ts";';
const stdin = { contents, resolveDir: `${folder}/../adapter-core/src` };
const built = buildSync({ stdin, bundle: true, platform: "node", format: "esm", write: false });
const { beginning, identify } = await import(`data:text/javascript,${encodeURIComponent(built.outputFiles[0].text)}`);

/** What is noted behind the next note, which throws. */
function noteAfterOneThatFails(log) {
  return new Promise((resolve) => {
    log.note = () => {
      log.note = resolve;
      throw new Error("this cannot be noted");
    };
  });
}

const surroundings = { ...process.env };
for await (const line of createInterface({ input: process.stdin })) {
  const { way, directory, root, state, limit, environment, stored, falls } = JSON.parse(line);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, surroundings, environment);
  const notes = [];
  const log = { note: (text) => notes.push(text) };
  const found =
    way === "beginning"
      ? await beginning(directory, () => stored)
      : { ...(await identify({ directory, root }, state, log, limit)), notes };
  if (falls) found.late = await noteAfterOneThatFails(log);
  console.log(JSON.stringify(found));
}
