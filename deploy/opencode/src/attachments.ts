/** Pictures and documents that a tool of OpenCode answers with. Pure. */

import { attachment, isFile } from "@annals/adapter-core/attachments";
import type { Attachment } from "@annals/adapter-core/language";
import type { ToolState } from "./harness.ts";

/** What OpenCode sends with an output: nothing with a failure, and nothing with one that it has pruned. */
export function attachments(state: ToolState): Attachment[] | undefined {
  if (state.status !== "completed" || state.time?.compacted || !Array.isArray(state.attachments)) return undefined;
  const seen = state.attachments.flatMap((one) => (isFile(one) ? [attachment(one)] : []));
  return seen.length > 0 ? seen : undefined;
}
