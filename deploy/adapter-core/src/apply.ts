/** What a plan's edits do to the messages of a harness: the same as the service's reference does to its own. Pure. */

import type { Edit, EditOf } from "./language.ts";
import { TAGS } from "./tags.ts";

export type Edits = ReadonlyMap<string, Edit>;

/**
 * How a harness builds its messages. Nothing of it changes what it is given: where something is to be different, the
 * answer is a copy, and where nothing is, it is the same object.
 */
export interface Shape<Message, Part> {
  id(message: Message): string;
  isUser(message: Message): boolean;
  parts(message: Message): readonly Part[];
  withParts(message: Message, parts: Part[]): Message;
  /** A person's message of this text at the head of the list, made after another one of a person. */
  head(pattern: Message, id: string, text: string): Message;
  /** A finished tool call for the end of this message. */
  pair(message: Message, id: string, edit: EditOf<"insert_pair">): Part;
  partId(part: Part): string;
  /** Whether it is a thought: with the last one of a message goes what belongs to thoughts in its other parts. */
  isThought(part: Part): boolean;
  withoutThoughts(part: Part): Part;
  /** A part's text; a tool's is its output. */
  text(part: Part): string;
  withText(part: Part, text: string): Part;
  /** Another text in the part's place: a file becomes a text. */
  replaced(part: Part, text: string): Part;
  withOutput(part: Part, output: string): Part;
}

/** The messages as they are served: a copy; what no edit names is shared with the original. */
export function apply<Message, Part>(
  messages: readonly Message[],
  edits: Edits,
  shape: Shape<Message, Part>,
): Message[] {
  const arcs = new Set<string>();
  for (const edit of edits.values()) if (edit.op === "omit_arc") for (const part of edit.parts) arcs.add(part);
  const served = heads(messages, edits, shape);
  for (const message of behindCut(messages, edits, shape)) {
    if (edits.has(`message:${shape.id(message)}`)) continue;
    const parts = editedParts(message, edits, arcs, shape);
    if (parts.length > 0 || shape.parts(message).length === 0) served.push(shape.withParts(message, parts));
  }
  return served;
}

function heads<Message, Part>(messages: readonly Message[], edits: Edits, shape: Shape<Message, Part>): Message[] {
  const pattern = messages.find((message) => shape.isUser(message));
  if (pattern === undefined) return [];
  return [0, 1].flatMap((slot) => {
    const edit = edits.get(`head:${slot}`);
    return edit?.op === "set_head" && edit.text ? [shape.head(pattern, `annals:head:${slot}`, edit.text)] : [];
  });
}

function behindCut<Message, Part>(
  messages: readonly Message[],
  edits: Edits,
  shape: Shape<Message, Part>,
): readonly Message[] {
  const cut = edits.get("cut");
  if (cut?.op !== "cut_before") return messages;
  const first = messages.findIndex((message) => shape.id(message) === cut.message);
  return messages.slice(Math.max(0, first));
}

function editedParts<Message, Part>(
  message: Message,
  edits: Edits,
  arcs: ReadonlySet<string>,
  shape: Shape<Message, Part>,
): Part[] {
  const before = shape.parts(message);
  const left = before.flatMap((part) => (arcs.has(shape.partId(part)) ? [] : edited(part, edits, shape)));
  const isThought = (part: Part) => shape.isThought(part);
  const hasLostThoughts = before.some(isThought) && !left.some(isThought);
  const parts = hasLostThoughts ? left.map((part) => shape.withoutThoughts(part)) : left;
  const pair = edits.get(`pair:${shape.id(message)}`);
  return pair?.op === "insert_pair" ? [...parts, shape.pair(message, `annals:pair:${pair.call}`, pair)] : parts;
}

/** The part with what is put in its place and behind it; nothing where it is left out. */
function edited<Message, Part>(part: Part, edits: Edits, shape: Shape<Message, Part>): Part[] {
  const id = shape.partId(part);
  const after = replaced(part, edits.get(`part:${id}`), shape);
  const append = edits.get(`append:${id}`);
  if (after.length === 0 || append?.op !== "append_text") return after;
  return after.map((one) => shape.withText(one, shape.text(one) + append.text));
}

function replaced<Message, Part>(part: Part, edit: Edit | undefined, shape: Shape<Message, Part>): Part[] {
  switch (edit?.op) {
    case "prefix_text":
      return [shape.withText(part, edit.text + shape.text(part).replace(TAGS, ""))];
    case "replace_text":
      return [shape.replaced(part, edit.text)];
    case "replace_output":
      return [shape.withOutput(part, edit.text)];
    case "omit_part":
      return [];
    default:
      return [part];
  }
}
