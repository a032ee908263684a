// What the adapter's spool holds after each of the given happenings, with a broker that takes nothing.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const [folder, root, happenings] = process.argv.slice(2);
const { buildSync } = createRequire(join(folder, "package.json"))("esbuild");
const stdin = { contents: 'export { Outbox } from "./outbox.ts";', resolveDir: join(folder, "..", "adapter-core", "src") };
const { outputFiles } = buildSync({ stdin, bundle: true, platform: "node", format: "esm", write: false });
const { Outbox } = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);

mkdirSync(root, { recursive: true });
const directory = mkdtempSync(join(root, "state-"));
const broker = {
  connected: true,
  onConnected() {},
  async publish() {
    throw new Error("the connection was closed");
  },
};
const outbox = new Outbox(broker, { note() {} }, directory);

const spooled = () =>
  readdirSync(join(directory, "spool"))
    .flatMap((name) => readFileSync(join(directory, "spool", name), "utf8").split("\n").slice(0, -1))
    .map((line) => JSON.parse(line).id);

const found = [];
for (const happening of JSON.parse(happenings)) {
  if (happening === "noticed") broker.connected = false;
  else outbox.put({ subject: "in", id: happening, data: "{}" });
  await new Promise((resolve) => setImmediate(resolve));
  found.push(spooled());
}
console.log(JSON.stringify(found));
process.exit(0);
