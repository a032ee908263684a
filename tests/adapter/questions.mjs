// What the core's loop of questions sends after each of the given happenings, to a service whose replies are given.
import { core, pass, settled } from "./disk.mjs";

const [folder, , happenings] = process.argv.slice(2);
const { Questions, Taker, modelAnswer } = await core(folder, "questions");

const trace = { asked: [], sent: [], answering: [], notes: [], ids: [], actors: [], begun: 0, closed: 0 };
const offers = []; // what the service replies to the next requests for a question; none: it does not reply
const replies = []; // what it replies to the next commands; none: ok
const waiting = []; // questions that the harness is answering
let listener = () => undefined;
let commandsFail = 0;

const broker = {
  connected: true,
  maxPayload: 1024 * 1024,
  onConnected: (added) => {
    const before = listener;
    listener = () => (before(), added());
  },
  async request(subject, question) {
    if (subject.startsWith("ask.")) {
      trace.asked.push([subject, question]);
      const offer = offers.shift();
      if (offer === undefined) throw new Error("no responders");
      if (offer === "never") return new Promise(() => undefined);
      return offer;
    }
    trace.sent.push([subject, question.data]);
    trace.ids.push(question.id);
    trace.actors.push(question.actor);
    if (commandsFail > 0) {
      commandsFail -= 1;
      throw new Error("timeout");
    }
    return replies.shift() ?? { ok: true, text: "Done." };
  },
};
const log = {
  note: (what) => void trace.notes.push(what),
  async guarded(where, work) {
    try {
      return await work();
    } catch (error) {
      trace.notes.push(`${where}: ${error}`);
      return undefined;
    }
  },
};
const taker = new Taker();
const loops = new Map();
const loop = (project = "shop") => {
  const answering = {
    begin: async () => void (trace.begun += 1),
    answer(question, signal) {
      trace.answering.push(question.question);
      return new Promise((resolve, reject) => {
        waiting.push({ resolve, reject, question });
        signal.addEventListener("abort", () => trace.answering.push(`${question.question} ${signal.reason}`));
      });
    },
  };
  const known = loops.get(project) ?? new Questions(project, { identity: { harness: "ed" }, log, broker }, taker, answering);
  loops.set(project, known);
  return known;
};
const until = (seconds) => new Date(Date.now() + seconds * 1000).toISOString();

const ways = {
  start: (project) => loop(project).start(),
  offer: (...given) =>
    void offers.push(...given.map((one) => (typeof one?.until === "number" ? { ...one, until: until(one.until) } : one))),
  reply: (...given) => void replies.push(...given),
  silent: (count) => void (commandsFail = count),
  answered: (fields) => waiting.shift().resolve(modelAnswer(fields)),
  long: (character, count) => waiting.shift().resolve(modelAnswer({ text: character.repeat(count) })),
  failed: (reason) => waiting.shift().reject(new Error(reason)),
  away: () => void (broker.connected = false),
  back: () => {
    broker.connected = true;
    listener();
  },
  close: (project) => void loop(project).close().then(() => void (trace.closed += 1)),
  pass: (seconds) => pass(seconds * 1000),
};

const found = [];
for (const [way, ...given] of JSON.parse(happenings)) {
  await ways[way](...given);
  for (let turn = 0; turn < 20; turn += 1) await settled();
  found.push(JSON.parse(JSON.stringify({ ...trace, taker: taker.id })));
}
process.stdout.write(JSON.stringify(found), () => process.exit(0));
