// What is in the adapter's spool after each of the given happenings, with a broker that takes nothing at first.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { core, disk, made, pass, settled } from "./disk.mjs";

const [folder, directory, happenings] = process.argv.slice(2);
const { Outbox } = await core(folder, "outbox");
const seen = { sent: [], taken: [], notes: [], stored: [] };
const refused = new Set(["*"]);
let underWay; // what the broker has neither taken nor refused
let connect; // what the outbox does at a new connection
let release; // ends the storing of a body that is under way
let isSlow = false;
let erased; // what becomes of a message by an erasure
const broker = {
  connected: true,
  onConnected: (listener) => void (connect = listener),
  async keep(reference) {
    if (isSlow) await new Promise((resolve) => (release = resolve));
    seen.stored.push(reference);
  },
  async publish(_subject, _data, id) {
    seen.sent.push(id);
    if (underWay) await new Promise((_, reject) => underWay.push(reject));
    if (refused.has("*") || refused.has(id)) throw new Error("the connection was closed");
    seen.taken.push(id);
  },
};
const log = { note: (what) => seen.notes.push(what), guarded: async (_, work) => await work() };
const erasures = { settle: async (queue) => (queue.change(erased), true) };
let outbox;
const begin = () => {
  outbox ??= new Outbox(broker, log, made(directory), erasures);
  return outbox;
};

const spool = join(directory, "spool");
const spooled = () =>
  (existsSync(spool) ? readdirSync(spool) : [])
    .flatMap((name) => readFileSync(join(spool, name), "utf8").split("\n"))
    .flatMap((line) => {
      try {
        return [JSON.parse(line).id];
      } catch {
        return []; // what was cut off
      }
    });

const ways = {
  begin,
  noticed: () => void (broker.connected = false),
  disk: (state) => void (disk.state = state),
  refuses: (...ids) => (refused.clear(), ids.forEach((id) => refused.add(id))),
  pass,
  silent: () => void (underWay = []),
  closed: () => {
    for (const reject of underWay) reject(new Error("the connection was closed"));
    underWay = undefined;
  },
  stores: (pace) => void (isSlow = pace === "slowly"),
  stored: () => ((isSlow = false), release()),
  dropped: () => ((erased = () => undefined), connect()),
  masked: () => ((erased = (message) => ({ ...message, data: "[]", bodies: { masked: "" } })), connect()),
  long: (id) => begin().put({ subject: "in", id, data: "{}", bodies: { [id]: "a long text" } }),
  put: (...ids) => ids.forEach((id) => begin().put({ subject: "in", id, data: "{}" })),
};
const found = [];
for (const [way, ...given] of JSON.parse(happenings)) {
  await ways[way](...given);
  await settled();
  found.push({ spooled: spooled(), writes: disk.writes, ...structuredClone(seen) });
}
console.log(JSON.stringify(found));
