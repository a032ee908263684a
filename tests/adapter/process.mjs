// Plays, line by line, turns in several directories of one process with the whole plugin, where no service answers.
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

const [bundle, options] = [process.argv[2], JSON.parse(process.argv[3])];
const { default: plugin } = await import(bundle);
const notices = [];
const hooks = new Map();

async function at(directory) {
  const client = {
    app: { agents: async () => ({ data: [] }) },
    config: { providers: async () => ({}) },
    session: { get: async () => ({}), list: async () => ({ data: [] }), messages: async () => ({ data: [] }) },
    tui: { showToast: async ({ body }) => notices.push([directory, body.message]) },
    _client: { get: async () => ({ data: [] }), post: async () => ({ data: [] }) },
  };
  if (!hooks.has(directory)) hooks.set(directory, await plugin.server({ client, directory }, options));
  return hooks.get(directory);
}

const ways = {
  open: async (directory) => void (await at(directory)),
  /** A turn of one step. */
  turn: async (directory, sessionID) => {
    const here = await at(directory);
    await here["chat.message"]({ sessionID });
    const info = { id: `${sessionID}.m`, sessionID, role: "user", model: { providerID: "p", modelID: "m" } };
    const parts = [{ id: `${sessionID}.p`, messageID: info.id, sessionID, type: "text", text: "go" }];
    await here["experimental.chat.messages.transform"]({}, { messages: [{ info, parts }] });
    await here.event({ event: { type: "session.idle", properties: { sessionID } } });
  },
  /** Until the adapter's log holds this. */
  logged: async (text) => {
    const path = join(options.state, "adapter.log");
    while (!existsSync(path) || !readFileSync(path, "utf8").includes(text)) await new Promise((resolve) => setTimeout(resolve, 10));
  },
  /** Until this file has so many bytes. */
  written: async (path, size) => {
    while (!existsSync(path) || statSync(path).size < size) await new Promise((resolve) => setTimeout(resolve, 10));
  },
};
for await (const line of createInterface({ input: process.stdin })) {
  const { way, given } = JSON.parse(line);
  await ways[way](...given);
  console.log(JSON.stringify(notices.splice(0)));
}
process.exit(0); // the plugin tries for ever to connect
