// Plays all hooks of the whole plugin for one session, without a service: what is reported waits in the spool.
import { createRequire } from "node:module";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const [folder, root, title, ...hooks] = process.argv.slice(2);
const state = join(root, "state");
setInterval(() => undefined, 1000); // the plugin keeps no process alive, and waits for nothing that would
const { buildSync } = createRequire(join(folder, "package.json"))("esbuild");
const outfile = join(root, "plugin.mjs");
buildSync({
  entryPoints: [join(folder, "src", "index.ts")],
  define: { ANNALS_VERSION: '"1"' },
  banner: { js: 'import{createRequire}from"node:module";const require=createRequire(import.meta.url);' },
  bundle: true,
  platform: "node",
  format: "esm",
  outfile,
});
const { default: plugin } = await import(outfile);
const asked = [];
const session = { id: "hidden", title, version: "1", time: { created: 1, updated: 1 } };
const client = {
  app: { agents: async () => ({ data: [] }) },
  config: { providers: async () => ({}) },
  session: {
    get: async () => (asked.push("get"), { data: session }),
    list: async () => ({ data: [] }),
    messages: async () => (asked.push("messages"), { data: [] }),
    message: async () => (asked.push("message"), {}),
  },
  _client: { get: async () => ({ data: [] }), post: async () => (asked.push("history"), { data: [] }) },
};
const options = { broker: join(root, "nowhere.json"), state, patience: 0.01, questions: true };
const hooked = await plugin.server({ client, directory: root }, options);

const sessionID = "hidden";
const info = { id: "m1", sessionID, role: "user", agent: "build", model: { providerID: "p", modelID: "m" } };
const answer = { id: "m2", sessionID, role: "assistant", time: { created: 1, completed: 2 }, tokens: { input: 5 } };
const part = { id: "p1", messageID: "m1", sessionID, type: "text", text: "§1§ go" };
const events = [
  ["session.created", { info: session }],
  ["session.updated", { info: session }],
  ["message.updated", { info }],
  ["message.part.updated", { part }],
  ["session.status", { status: { type: "busy" } }],
  ["message.updated", { info: answer }],
  ["todo.updated", { todos: [{ content: "go" }] }],
  ["session.error", { error: { name: "APIError", data: { message: "no" } } }],
  ["session.compacted", {}],
  ["message.part.removed", { messageID: "m1", partID: "p1" }],
  ["message.removed", { messageID: "m1" }],
  ["session.idle", {}],
];
const hear = (type, properties) => hooked.event({ event: { id: `e.${type}`, type, properties: { sessionID, ...properties } } });

/** Each hook as OpenCode calls it, and what it is given to change. */
const plays = {
  event: async () => {
    for (const [type, properties] of events) await hear(type, properties);
  },
  "chat.message": async () => {
    const output = { message: { ...info } };
    await hooked["chat.message"]({ sessionID }, output);
    return output;
  },
  "tool.definition": async () => {
    const output = { description: "Deploys.", parameters: {} };
    await hooked["tool.definition"]({ toolID: "deploy" }, output);
    return output;
  },
  "experimental.chat.messages.transform": async () => {
    const output = { messages: [{ info, parts: [part] }] };
    await hooked["experimental.chat.messages.transform"]({}, output);
    return output;
  },
  "experimental.chat.system.transform": async () => {
    const output = { system: ["Today's date: Fri Nov 20 2026"] };
    await hooked["experimental.chat.system.transform"]({ sessionID }, output);
    return output;
  },
  "experimental.text.complete": async () => {
    const output = { text: "§1§ done" };
    await hooked["experimental.text.complete"]({ sessionID }, output);
    return output;
  },
  "tool.execute.before": async () => {
    const output = { args: { text: "[dropped §12§]" } };
    await hooked["tool.execute.before"]({ tool: "write", sessionID }, output);
    return output;
  },
  "experimental.session.compacting": async () => {
    const output = { context: [] };
    await hooked["experimental.session.compacting"]({ sessionID }, output);
    return output;
  },
  "command.execute.before": async () => {
    const output = { parts: [] };
    await hooked["command.execute.before"]({ command: "ctx-status", sessionID, arguments: "" }, output);
    return output;
  },
};
await hear("session.created", { info: session });
const outputs = {};
for (const name of Object.keys(plays)) outputs[name] = (await plays[name]()) ?? null;
await hear("session.deleted", { info: session });
/** A person's session next to it: what tools it reports shows whether the hidden one's were taken for its own. */
const person = { ...info, id: "m3", sessionID: "own" };
const words = { ...part, id: "p3", messageID: "m3", sessionID: "own" };
await hooked["chat.message"]({ sessionID: "own" }, { message: person });
await hooked["tool.definition"]({ toolID: "read" }, { description: "Reads.", parameters: {} });
await hooked["experimental.chat.messages.transform"]({}, { messages: [{ info: person, parts: [words] }] });
await hooked.dispose();

const files = (name) => (existsSync(join(state, name)) ? readdirSync(join(state, name)) : []);
const spool = files("spool").flatMap((name) => readFileSync(join(state, "spool", name), "utf8").trim().split("\n"));
const reported = spool.map((line) => JSON.parse(line));
console.log(
  JSON.stringify({
    hooks: Object.keys(hooked),
    played: Object.keys(plays),
    outputs,
    asked,
    records: files("sessions"),
    reported: reported.map(({ subject }) => subject.split(".")[3]),
    tools: reported.flatMap(({ data }) => JSON.parse(data).items).flatMap(({ tools = [] }) => tools.map(({ name }) => name)),
  }),
);
process.exit(0);
