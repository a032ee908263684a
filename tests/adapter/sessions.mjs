// Plays, line by line, what OpenCode does with the adapter, against a service that answers as it is told.
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";

const folder = process.argv[2];
const { buildSync } = createRequire(join(folder, "package.json"))("esbuild");
const entryPoints = [join(folder, "src", "adapter.ts")];
const { outputFiles } = buildSync({ entryPoints, bundle: true, platform: "node", format: "esm", write: false });
const { Adapter } = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);

const BREAKER = { allows: () => true, succeeded() {}, failed() {} };

function begun({ directory, guide, agents = [], options = {} }) {
  const said = { items: [], questions: [], notices: [], answers: [] };
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
  const outbox = { put: ({ data }) => said.items.push(...JSON.parse(data).items) };
  const broker = {
    connected: true,
    async request(_, question) {
      said.questions.push(question);
      const answer = said.answers.shift();
      if (answer === null) throw new Error("late");
      return answer ?? { status: "ready" };
    },
  };
  const client = {
    app: { agents: async () => ({ data: agents }) },
    config: { providers: async () => ({}) },
    session: { get: async () => ({}) },
    tui: { showToast: async ({ body }) => said.notices.push(body.message) },
  };
  const service = { directory, guide, options: { deadline_ms: 60_000, ...options }, log, outbox, broker };
  const build = { version: "1", digest: "" };
  const input = { client, directory, project: { id: "project" } };
  return { adapter: new Adapter(service, guide, input, build, BREAKER), said };
}

const ways = {
  begin: async (place, given) => Object.assign(place, begun(given)),
  meet: ({ adapter }, plugins) => adapter.meet(plugins),
  answer: ({ said }, ...answers) => void said.answers.push(...answers),
  prepare: ({ adapter }, session) => adapter.prepare(session),
  hear: ({ adapter }, event) => adapter.hear(event),
  compact: ({ adapter }, session) => adapter.compaction(session),
  serve: ({ adapter }, entries) => adapter.serve(entries),
  system: ({ adapter }, session, system) => adapter.adjustSystem(session, system),
};
const place = {};
for await (const line of createInterface({ input: process.stdin })) {
  const { way, given } = JSON.parse(line);
  const answer = await ways[way](place, ...given);
  const { items, questions, notices } = place.said;
  console.log(JSON.stringify({ answer: way === "begin" ? null : answer, items, questions, notices }));
  for (const told of [items, questions, notices]) told.length = 0;
}
