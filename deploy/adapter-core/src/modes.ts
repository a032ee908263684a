/** The mode of each session: set at its first step for good. */

import type { Mode } from "./language.ts";
import type { SessionRecord } from "./record.ts";

/** The tool without which an agent has no use for tags. */
export const REDUCE = "ctx_reduce";

export interface Facts {
  /** Somebody else makes the prompts smaller. */
  hasRival: boolean;
  /** An agent's session started it. */
  isChild: boolean;
  /** Its agent is offered the tool to drop by tag. */
  reduces: boolean;
}

/** The mode of a new session. */
export function decided({ hasRival, isChild, reduces }: Facts): Mode {
  if (hasRival) return "additive";
  if (isChild) return "subagent";
  return reduces ? "primary" : "reduce_off";
}

/** The mode of a session that works already: it stays, unless it turns out, once, to be an agent's own. */
export function learned(mode: Mode, isChild: boolean): Mode {
  return isChild && (mode === "primary" || mode === "reduce_off") ? "subagent" : mode;
}

/** The mode in a session's record; it is recorded where it is not yet. */
export function recordedMode(record: SessionRecord, isChild: boolean, first: () => Mode): Mode {
  const mode = learned(record.mode || first(), isChild);
  if (record.mode === "") record.note({ mode });
  else if (mode !== record.mode) record.note({ mode, guidance: record.guidance || record.mode });
  return mode;
}

/** The mode whose guidance the session has: like the date, it changes only with a rebase. */
export function recordedGuidance(record: SessionRecord, mode: Mode, isRebased: boolean): Mode {
  const guidance = record.guidance === "" || isRebased ? mode : record.guidance;
  if (guidance !== record.guidance) record.note({ guidance });
  return guidance;
}
