// What a session's record holds after each of the given happenings.
import { core, disk, made } from "./disk.mjs";

const [folder, directory, happenings] = process.argv.slice(2);
const { SessionRecord } = await core(folder, "record");
const notes = [];
let record;

const ways = {
  begin: () => void (record = new SessionRecord(made(directory), "s", { note: (what) => notes.push(what) })),
  disk: (state) => void (disk.state = state),
  note: (line) => record.note(line),
  take: (revision) => record.take([{ revision, edits: [{ op: "omit_message", message: `m${revision}` }] }]),
};
const found = [];
for (const [way, ...given] of JSON.parse(happenings)) {
  ways[way](...given);
  const { revision, seq, reported, mode } = record;
  found.push({ revision, edits: record.edits.size, seq, reported, mode, notes: [...notes] });
}
console.log(JSON.stringify(found));
