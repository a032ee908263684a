/** What OpenCode's own compaction asks its model for. */

import { summaryPrompt } from "@annals/adapter-core/compaction";
import type { Client, Entry } from "./harness.ts";

/** What OpenCode lets plugins say: more context for its own prompt, or a prompt in its place. */
export interface Compacting {
  context: string[];
  prompt?: string | undefined;
}

/**
 * Put a prompt in the place of OpenCode's own. That one would carry the context of other plugins and the summary before:
 * now this one does. It is made when it is read, because other plugins may be asked later.
 */
export function replacePrompt(output: Compacting, brief: string, previous: string): void {
  const { prompt: earlier } = output;
  let later: string | undefined;
  Object.defineProperty(output, "prompt", {
    enumerable: true,
    configurable: true,
    get: () => later ?? summaryPrompt({ brief, previous, context: output.context, earlier }),
    set: (prompt?: string) => {
      later = prompt;
    },
  });
}

/** What the newest summary of a session says; empty: there is none. */
export async function previousSummary(client: Client, session: string): Promise<string> {
  const entries: Entry[] = (await client.session.messages({ path: { id: session } })).data ?? [];
  const isSummary = ({ info }: Entry) =>
    info.role === "assistant" && info.summary === true && info.time?.completed !== undefined && !info.error;
  const parts = entries.findLast(isSummary)?.parts ?? [];
  return parts
    .map(({ type, text }) => (type === "text" ? (text ?? "") : ""))
    .join("")
    .trim();
}
