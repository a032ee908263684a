/** How OpenCode builds its messages and parts, for the edits of a plan. Pure. */

import type { Shape } from "@annals/adapter-core/apply";
import type { Entry, Part } from "./harness.ts";
import { withoutSeal, withoutThoughts } from "./thinking.ts";

/** What OpenCode sends in place of an output that it has pruned. */
export const CLEARED = "[Old tool result content cleared]";

export const SHAPE: Shape<Entry, Part> = {
  id: ({ info }) => info.id,
  isUser: ({ info }) => info.role === "user",
  parts: ({ parts }) => parts,
  withParts: ({ info }, parts) => ({ info, parts }),
  head: (pattern, id, text) => {
    const { summary: _, ...info } = pattern.info;
    return {
      info: { ...info, id },
      parts: [{ id: `${id}:p0`, messageID: id, sessionID: info.sessionID, type: "text", text, synthetic: true }],
    };
  },
  pair: ({ info }, id, { call, tool, input, output }) => ({
    id,
    messageID: info.id,
    sessionID: info.sessionID,
    type: "tool",
    tool,
    callID: call,
    state: {
      status: "completed",
      input: JSON.parse(input || "{}"),
      output,
      title: "",
      metadata: {},
      time: { start: 0, end: 0 },
    },
  }),
  partId: ({ id }) => id,
  isThought: ({ type }) => type === "reasoning",
  withoutThoughts,
  text,
  withText,
  replaced: (part, replacement) => {
    if (part.type === "text" || part.type === "tool") return withText(part, replacement);
    const { id, messageID, sessionID } = part;
    return { id, messageID, sessionID, type: "text", text: replacement };
  },
  withOutput: (part, output) => withOutput(part, output, false),
};

function text(part: Part): string {
  if (part.type !== "tool") return part.text ?? "";
  if (part.state?.status === "error") return part.state.error ?? "";
  return part.state?.time?.compacted ? CLEARED : (part.state?.output ?? "");
}

function withText(part: Part, words: string): Part {
  if (part.type === "tool") return withOutput(part, words, true);
  return words === text(part) ? part : { ...withoutSeal(part), text: words };
}

/** A tool's part with another output. A call that has not answered yet has none to change. */
function withOutput(part: Part, output: string, keepsAttachments: boolean): Part {
  const state = part.state ?? {};
  if (state.status === "error") return { ...part, state: { ...state, error: output } };
  if (state.status !== "completed") return part;
  const { compacted, ...time } = state.time ?? {}; // OpenCode would send a placeholder of its own
  const { attachments, ...rest } = state;
  const attached = keepsAttachments && !compacted && attachments !== undefined ? { attachments } : {};
  return { ...part, state: { ...rest, ...attached, time, output } };
}
