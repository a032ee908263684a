/** What edits do to OpenCode's messages: the same as the service's reference does to its own. Pure. */

import type { Entry, Info, Part } from "./harness.ts";
import type { Edit } from "./language.ts";
import { withoutSeal, withoutThoughts } from "./thinking.ts";

export type Edits = ReadonlyMap<string, Edit>;

/** Tags at the beginning of a text, the malformed ones included that models make of them. */
export const TAGS = /^(?:§\d+">§(?:\d+§)?\s*|§\d+§\s*)+/;

/** The messages as they are served: a copy; what no edit names is shared with the original. */
export function apply(entries: readonly Entry[], edits: Edits): Entry[] {
  const arcs = new Set<string>();
  for (const edit of edits.values()) if (edit.op === "omit_arc") for (const part of edit.parts) arcs.add(part);
  const served = heads(entries, edits);
  for (const entry of behindCut(entries, edits)) {
    if (edits.has(`message:${entry.info.id}`)) continue;
    const changed = edited(entry, edits, arcs);
    if (changed.parts.length > 0 || entry.parts.length === 0) served.push(changed);
  }
  return served;
}

function heads(entries: readonly Entry[], edits: Edits): Entry[] {
  const pattern = entries.find((entry) => entry.info.role === "user")?.info;
  if (!pattern) return [];
  return [0, 1].flatMap((slot) => {
    const edit = edits.get(`head:${slot}`);
    return edit?.op === "set_head" && edit.text ? [head(pattern, slot, edit.text)] : [];
  });
}

function head(pattern: Info, slot: number, text: string): Entry {
  const { summary: _, ...info } = pattern;
  const id = `annals:head:${slot}`;
  return {
    info: { ...info, id },
    parts: [{ id: `${id}:p0`, messageID: id, sessionID: info.sessionID, type: "text", text, synthetic: true }],
  };
}

function behindCut(entries: readonly Entry[], edits: Edits): readonly Entry[] {
  const cut = edits.get("cut");
  if (cut?.op !== "cut_before") return entries;
  return entries.slice(
    Math.max(
      0,
      entries.findIndex((entry) => entry.info.id === cut.message),
    ),
  );
}

function edited(entry: Entry, edits: Edits, arcs: ReadonlySet<string>): Entry {
  const left = entry.parts.flatMap((part) => (arcs.has(part.id) ? [] : (changed(part, edits) ?? [])));
  const parts = entry.parts.some(isThought) && !left.some(isThought) ? left.map(withoutThoughts) : left;
  const pair = edits.get(`pair:${entry.info.id}`);
  if (pair?.op === "insert_pair") parts.push(inserted(entry.info, pair));
  return { info: entry.info, parts };
}

function changed(part: Part, edits: Edits): Part | undefined {
  const after = replaced(part, edits.get(`part:${part.id}`));
  const append = edits.get(`append:${part.id}`);
  return after && append?.op === "append_text" ? withText(after, textOf(after) + append.text) : after;
}

function replaced(part: Part, edit: Edit | undefined): Part | undefined {
  switch (edit?.op) {
    case "prefix_text":
      return withText(part, edit.text + textOf(part).replace(TAGS, ""));
    case "replace_text":
      return isText(part) ? withText(part, edit.text) : asText(part, edit.text);
    case "replace_output":
      return withOutput(part, edit.text, false);
    case "omit_part":
      return undefined;
    default:
      return part;
  }
}

const isThought = (part: Part) => part.type === "reasoning";

const isText = (part: Part) => part.type === "text" || part.type === "tool";

const CLEARED = "[Old tool result content cleared]";

function textOf(part: Part): string {
  if (part.type !== "tool") return part.text ?? "";
  if (part.state?.status === "error") return part.state.error ?? "";
  return part.state?.time?.compacted ? CLEARED : (part.state?.output ?? "");
}

function withText(part: Part, text: string): Part {
  if (part.type === "tool") return withOutput(part, text, true);
  return text === textOf(part) ? part : { ...withoutSeal(part), text };
}

/** A tool's part with another output. A call that has not answered yet has none to change. */
function withOutput(part: Part, output: string, keepsAttachments: boolean): Part {
  const state = part.state ?? {};
  if (state.status === "error") return { ...part, state: { ...state, error: output } };
  if (state.status !== "completed") return part;
  const { compacted, ...time } = state.time ?? {}; // OpenCode would send a placeholder of its own
  const { attachments, ...rest } = state;
  const kept = keepsAttachments && !compacted && attachments !== undefined ? { attachments } : {};
  return { ...part, state: { ...rest, ...kept, time, output } };
}

function asText(part: Part, text: string): Part {
  return { id: part.id, messageID: part.messageID, sessionID: part.sessionID, type: "text", text };
}

function inserted(info: Info, pair: Extract<Edit, { op: "insert_pair" }>): Part {
  return {
    id: `annals:pair:${pair.call}`,
    messageID: info.id,
    sessionID: info.sessionID,
    type: "tool",
    tool: pair.tool,
    callID: pair.call,
    state: {
      status: "completed",
      input: JSON.parse(pair.input || "{}"),
      output: pair.output,
      title: "",
      metadata: {},
      time: { start: 0, end: 0 },
    },
  };
}
