// Answers, line by line, what the adapter's pure functions make of given values.
import { createInterface } from "node:readline";

const pure = await import(process.argv[2]);
const calls = {
  token: (id) => pure.token(id),
  mask: (text) => pure.mask(text),
  entry: (entry) => pure.entry(entry, () => false),
  messages: (subject, name, at, items) => pure.inboundMessages("opencode", subject, name, new Date(at), items),
  isHelper: pure.isHelper,
  isQuotedArgument: pure.isQuotedArgument,
  dateOf: pure.dateOf,
  digestOf: pure.digestOf,
  adjusted: pure.adjusted,
  isSigned: pure.isSigned,
  taken: pure.taken,
  pixels: (data) => pure.pixels(Buffer.from(data, "base64")),
  rivalOf: pure.rivalOf,
  routed: pure.routed,
  refusalOf: pure.refusalOf,
  problemOf: pure.problemOf,
  withoutTags: pure.withoutTags,
  ...pure.modes,
  ...pure.rules,
  apply: (entries, edits, foreign) =>
    pure.apply(entries, new Map(edits.map((edit) => [pure.target(edit), edit])), foreign),
};
/** Texts in base64 once what the orders mean is masked in them. */
calls.withoutErased = async (orders, texts) => {
  const found = texts.map((text) => Buffer.from(text, "base64"));
  const masks = await pure.spellingsIn(orders, found);
  return found.map((text) => pure.without(text, masks).toString("base64"));
};
/** How many texts of this one need the slow digest. */
calls.erasedCandidates = (order, text) => new pure.Seeker(order).candidates(Buffer.from(text, "base64")).size;
/** Of this process, and all its threads. */
calls.processorSeconds = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};
/** What the harness reads in its switch after each of these happenings, as `[session, method, ...given]`. */
calls.compactions = (own, happenings) => {
  const keepers = new Map();
  let isReachable = true;
  const config = pure.governed(own, () => pure.mayCompact([...keepers.values()], isReachable));
  return happenings.map(([session, method, ...given]) => {
    const keeper = keepers.get(session) ?? new pure.ContextKeeper();
    if (session) keepers.set(session, keeper);
    if (method === "reachable") isReachable = given[0];
    else if (["phase", "isLeft", "isFull"].includes(method)) keeper[method] = given[0];
    else if (method === "set") config.auto = given[0];
    else keeper[method](...given);
    return { ...config, away: [...keepers.values()].some(({ isAway }) => isAway) };
  });
};
/** The notices of the person behind each of these happenings, as `[session, method, ...given]`: where, and which words. */
calls.notices = (mode, happenings) => {
  const keepers = new Map();
  let isComing = false;
  let notices = [];
  const handOver = new pure.HandOver(mode, "OpenCode", () => isComing);
  return happenings.map(([session, method, given, place = "here"]) => {
    notices = [];
    const notify = (texts) => notices.push(...texts.map((text) => [place, text]));
    const keeper = keepers.get(session) ?? new pure.ContextKeeper();
    if (session) keepers.set(session, keeper);
    if (method === "coming") isComing = given;
    else if (method === "isLeft") keeper.isLeft = given;
    else if (method === "rests") keeper.phase = "resting";
    else handOver[method](keeper, given, notify);
    return notices;
  });
};
/** Whether an installation is started at each of these times; `ended`: the start before is over. */
calls.starts = (happenings) => {
  const starts = new pure.Starts(60_000);
  return happenings.flatMap((one) => (one === "ended" ? (starts.ended(), []) : [starts.begin(one)]));
};
/** What OpenCode is asked for, and what is noted, where each of these is what it answers to whatever it is asked. */
calls.known = async (directory, answers) => {
  const asked = [];
  const notes = [];
  let now = {};
  const answer = (what) => async () => (asked.push(what), now);
  const client = { app: { agents: answer("agents") }, config: { providers: answer("models") } };
  const known = new pure.Known(client, { directory, log: { note: (text, given) => notes.push([text, given]) } });
  for (now of answers) {
    known.load();
    await known.loaded;
  }
  return { asked, notes };
};
/** The prompt for a summary, with these texts of other plugins before and after. */
calls.summaryPrompt = (before, brief, previous, after) => {
  const output = { context: [], prompt: undefined, ...before };
  pure.replacePrompt(output, brief, previous);
  output.context.push(...(after.context ?? []));
  if (after.prompt) output.prompt = after.prompt;
  return { ...output };
};
for await (const line of createInterface({ input: process.stdin })) {
  const { call, given } = JSON.parse(line);
  console.log(JSON.stringify({ answer: await calls[call](...given) }));
}
