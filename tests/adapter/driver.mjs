// Answers, line by line, what the adapter's pure functions make of given values.
import { createInterface } from "node:readline";

const pure = await import(process.argv[2]);
const calls = {
  token: (id) => pure.token(id),
  mask: (text) => pure.mask(text),
  entry: (entry) => pure.entry(entry, () => false),
  letters: (subject, name, at, items) => pure.letters(subject, name, new Date(at), items),
  isHelper: pure.isHelper,
  dateOf: pure.dateOf,
  digestOf: pure.digestOf,
  adjusted: pure.adjusted,
  isSigned: pure.isSigned,
  taken: pure.taken,
  rivalOf: pure.rivalOf,
  ...pure.modes,
  apply: (entries, edits) => pure.apply(entries, new Map(edits.map((edit) => [pure.target(edit), edit]))),
};
for await (const line of createInterface({ input: process.stdin })) {
  const { call, given } = JSON.parse(line);
  console.log(JSON.stringify({ answer: calls[call](...given) }));
}
