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

/**
 * The messages as they are served: a copy; what no edit names is shared with the original. `isForeign` is true for a
 * message that another plugin has put into this call: it stays in its place, also before a cut.
 */
export function apply<Message, Part>(
  messages: readonly Message[],
  edits: Edits,
  shape: Shape<Message, Part>,
  isForeign: (id: string) => boolean = () => false,
): Message[] {
  const arcs = new Set<string>();
  for (const edit of edits.values()) if (edit.op === "omit_arc") for (const part of edit.parts) arcs.add(part);
  const own = messages.filter((message) => !isForeign(shape.id(message)));
  const served = heads(own, edits, shape);
  const cut = cutOf(messages, edits, shape);
  for (const [place, whole] of messages.entries()) {
    if (isForeign(shape.id(whole))) {
      served.push(whole);
      continue;
    }
    if (edits.has(`message:${shape.id(whole)}`)) continue;
    const message = place < cut.place ? remainderOf(whole, cut.stays, shape) : whole;
    if (message === undefined) continue;
    const parts = editedParts(message, edits, arcs, shape, place >= cut.place);
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

/** The place of the first message behind the cut, and the parts before it that stay. */
function cutOf<Message, Part>(
  messages: readonly Message[],
  edits: Edits,
  shape: Shape<Message, Part>,
): { place: number; stays: ReadonlySet<string> } {
  const cut = edits.get("cut");
  if (cut?.op !== "cut_before") return { place: 0, stays: new Set() };
  return { place: messages.findIndex((message) => shape.id(message) === cut.message), stays: new Set(cut.kept) };
}

/** A message before the cut with the parts of it that stay; nothing if none does. */
function remainderOf<Message, Part>(
  message: Message,
  stays: ReadonlySet<string>,
  shape: Shape<Message, Part>,
): Message | undefined {
  if (stays.size === 0) return undefined;
  const before = shape.parts(message);
  const left = before.filter((part) => stays.has(shape.partId(part)));
  return left.length > 0 ? shape.withParts(message, withoutLost(before, left, shape)) : undefined;
}

/** What is left of a message's parts; with its last thought goes what belongs to thoughts in the others. */
function withoutLost<Message, Part>(before: readonly Part[], left: Part[], shape: Shape<Message, Part>): Part[] {
  const isThought = (part: Part) => shape.isThought(part);
  const hasLostThoughts = before.some(isThought) && !left.some(isThought);
  return hasLostThoughts ? left.map((part) => shape.withoutThoughts(part)) : left;
}

function editedParts<Message, Part>(
  message: Message,
  edits: Edits,
  arcs: ReadonlySet<string>,
  shape: Shape<Message, Part>,
  mayGrow: boolean,
): Part[] {
  const before = shape.parts(message);
  const left = before.flatMap((part) => (arcs.has(shape.partId(part)) ? [] : edited(part, edits, shape)));
  const parts = withoutLost(before, left, shape);
  const pair = mayGrow ? edits.get(`pair:${shape.id(message)}`) : undefined;
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
