// Plays, line by line, what OpenCode does with the adapter, against a service that answers as its script says.
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";

const folder = process.argv[2];
const { buildSync } = createRequire(join(folder, "package.json"))("esbuild");
const contents = `
  export { Breaker } from "@annals/adapter-core/breaker";
  export { HandOver } from "@annals/adapter-core/compaction";
  export { Adapter } from "./adapter.ts";
  export { toolOf } from "./tools.ts";
  export { Unheard } from "@annals/adapter-core/unheard";
`;
const stdin = { contents, resolveDir: join(folder, "src") };
const { outputFiles } = buildSync({ stdin, bundle: true, platform: "node", format: "esm", write: false });
const { Adapter, Breaker, HandOver, Unheard, toolOf } = await import(
  `data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`
);

const BREAKER = { allows: () => true, isSilent: false, succeeded() {}, failed() {} };

function begun({ directory, guide, agents = [], options = {}, sessions = [], messages = {}, breaks = false, project = {} }) {
  const seen = { ids: [], items: [], subjects: [], questions: [], notices: [], answers: [], histories: [] };
  seen.restarts = 0;
  seen.reported = [];
  const log = {
    note() {},
    async guarded(_, work) {
      try {
        return await work();
      } catch {
        return undefined;
      }
    },
  };
  const outbox = {
    put({ id, subject, data }) {
      seen.ids.push(id);
      seen.reported.push(subject);
      seen.items.push(...JSON.parse(data).items);
    },
  };
  const broker = {
    connected: true,
    maxPayload: 1024 * 1024,
    async request(subject, question) {
      seen.subjects.push(subject);
      seen.questions.push(question);
      const answer = seen.answers.shift();
      if (answer === null) throw new Error("late");
      if (answer === "nobody") throw new Unheard("no responders");
      return answer ?? { status: "ready" };
    },
  };
  const client = {
    app: { agents: async () => ({ data: agents }) },
    config: { providers: async () => ({}) },
    session: {
      get: async ({ path }) => ({ data: sessions.find(({ id }) => id === path.id) }),
      list: async () => ({ data: sessions }),
      messages: async ({ path }) => ({ data: seen.stored ?? messages[path.id] ?? [] }),
      async message({ path }) {
        if (!seen.stored) throw new Error("late");
        const data = seen.stored.find(({ info }) => info.id === path.messageID);
        return { data, response: { status: data ? 200 : 404 } };
      },
    },
    tui: { showToast: async ({ body }) => seen.notices.push(body.message) },
    _client: {
      get: async () => ({ data: sessions }),
      async post({ body }) {
        const rows = seen.isReading ? await new Promise((resolve) => seen.histories.push(resolve)) : [];
        return { data: rows.filter(({ aggregate_id: session, seq }) => seq > body[session]) };
      },
    },
  };
  const identity = { harness: "opencode", bundle: "" };
  const service = { identity, directory, guide, options: { deadline_ms: 60_000, ...options }, log, outbox, broker };
  service.restart = async () => void (seen.restarts += 1);
  const build = { version: "1", digest: "" };
  const identified = { id: "project", former: [], home: false, vcs: "", ...project };
  const input = { client, directory, project: { id: "project" } };
  const handOver = new HandOver(options.compaction ?? "managed", "OpenCode", () => false);
  const adapter = new Adapter(service, guide, input, build, breaks ? new Breaker() : BREAKER, handOver, identified);
  const config = {};
  adapter.govern(config);
  return { adapter, config, seen };
}

const ways = {
  begin: async (place, given) => Object.assign(place, begun(given)),
  /** From now on OpenCode says which messages it stores: these. */
  store: ({ seen }, entries) => void Object.assign(seen, { stored: entries }),
  meet: ({ adapter }, plugins) => adapter.meet(plugins),
  answer: ({ seen }, ...answers) => void seen.answers.push(...answers),
  prepare: ({ adapter }, session) => adapter.prepare(session),
  hear: ({ adapter }, event) => adapter.hear(event),
  reading: ({ seen }) => void Object.assign(seen, { isReading: true }),
  read: async ({ seen }, events) => {
    while (seen.histories.length === 0) await new Promise((resolve) => setImmediate(resolve));
    seen.histories.shift()(events);
    await new Promise((resolve) => setImmediate(resolve));
  },
  listen: async ({ seen }) => {
    while (seen.items.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  },
  compact: ({ adapter }, session) => adapter.compaction(session),
  serve: ({ adapter }, entries) => adapter.serve(entries),
  call: ({ adapter }, tool, given, context) =>
    toolOf(adapter.service, (id) => adapter.projectOf(adapter.session(id)).id, tool, (id) => adapter.session(id).mode).execute(given, context),
  /** Whether OpenCode reads in its configuration that it may compact now. */
  compacts: ({ config }) => config.compaction.auto,
  /** The subjects on which something was reported until now. */
  reported: ({ seen }) => seen.reported,
  /** How often the installation was to be started until now. */
  restarts: ({ seen }) => seen.restarts,
  later: (_, milliseconds) => {
    const { now } = Date;
    Date.now = () => now() + milliseconds;
  },
  system: ({ adapter }, session, system) => adapter.adjustSystem(session, system),
};
const place = {};
for await (const line of createInterface({ input: process.stdin })) {
  const { way, given } = JSON.parse(line);
  const answer = await ways[way](place, ...given);
  const { ids, items, subjects, questions, notices } = place.seen;
  console.log(JSON.stringify({ answer: way === "begin" ? null : answer, ids, items, subjects, questions, notices }));
  for (const list of [ids, items, subjects, questions, notices]) list.length = 0;
}
