// Plays, line by line, questions that OpenCode answers in hidden sessions, with a client whose replies are given.
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";

const folder = process.argv[2];
const { buildSync } = createRequire(join(folder, "package.json"))("esbuild");
const stdin = { contents: 'export { AGENT, HiddenSessions } from "./answers.ts";', resolveDir: join(folder, "src") };
const { outputFiles } = buildSync({ stdin, bundle: true, platform: "node", format: "esm", write: false });
const { AGENT, HiddenSessions } = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);

const MESSAGE = { id: "m1", sessionID: "hidden", role: "assistant" };
const QUESTION = { question: "q1", model: "small", system: "Be brief.", prompt: "What was done?", output: 400 };
const REST = { session: "", purpose: "historian", until: "2030-01-01T00:00:00Z" };
const USUAL = { config: { small_model: "ac/mini", agent: { mine: {} } }, tools: ["bash", "read"], offered: ["bash", "mcp_x"] };

/** One question; what was done with OpenCode for it, and the answer. */
async function asked({ question = {}, reply = {}, sessions = [], created = { data: { id: "hidden" } }, aborts = "", ...given }) {
  const { config, tools, offered } = { ...USUAL, ...given };
  const calls = [];
  const controller = new AbortController();
  const noted = [];
  const log = {
    note: (what) => noted.push(what),
    async guarded(_, work) {
      try {
        return await work();
      } catch (error) {
        noted.push(String(error));
        return undefined;
      }
    },
  };
  let stop = () => undefined;
  const hidden = new HiddenSessions(
    {
      tool: { ids: async () => ({ data: tools }) },
      session: {
        get: async ({ path }) => ({ data: sessions.find(({ id }) => id === path.id) }),
        create: async ({ body }) => (calls.push(["create", body]), created),
        async prompt({ path, body }) {
          calls.push(["prompt", { ...path, ...body }]);
          if (aborts === "overflow") hidden.overflowed("hidden");
          else if (aborts) controller.abort(aborts);
          if (aborts) await new Promise((resolve) => (stop = resolve));
          if (reply.throws) throw new Error(reply.throws);
          return reply.error ? { error: reply.error } : { data: { info: { ...MESSAGE, ...reply.info }, parts: reply.parts ?? [] } };
        },
        abort: async ({ path }) => (calls.push(["abort", path.id]), stop()),
        delete: async ({ path }) => {
          calls.push(["delete", path.id]);
          if (given.undeletable) throw new Error("locked");
        },
      },
    },
    log,
    () => offered,
  );
  hidden.configure(config);
  if (given.early) controller.abort(given.early);
  const answer = await hidden.answer({ ...QUESTION, ...REST, ...question }, controller.signal).catch((error) => String(error));
  return { calls, answer, config, noted, isHidden: hidden.has("hidden"), agent: AGENT };
}

/** What is removed at a start, where OpenCode lists these sessions. */
async function left(sessions) {
  const removed = [];
  const queries = [];
  const hidden = new HiddenSessions(
    {
      session: { delete: async ({ path }) => void removed.push(path.id) },
      _client: { get: async ({ query }) => (queries.push(query), { data: sessions }) },
    },
    { guarded: (_, work) => work() },
    () => [],
  );
  await hidden.begin();
  return { removed, queries };
}

const ways = { asked, left, pid: () => process.pid };
for await (const line of createInterface({ input: process.stdin })) {
  const { way, given } = JSON.parse(line);
  console.log(JSON.stringify(await ways[way](...given)));
}
