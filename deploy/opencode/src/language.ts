/** The part of Annals' language that this adapter speaks; `schemas/json` of the service describes all of it. */

export const HARNESS = "opencode";
/** A text longer than this travels in a bucket, and the message carries its reference. */
export const MAX_BODY_BYTES = 256 * 1024;
/** The most that one inbound message may hold. */
export const MAX_PIECE_BYTES = 512 * 1024;
/** The most messages listed in one piece of a step. */
export const LISTED_AT_ONCE = 2000;
export const INBOUND_BODIES = "inbound";

export type Mode = "primary" | "reduce_off" | "subagent" | "hidden" | "additive";
export type PartKind = "text" | "reasoning" | "file" | "tool" | "compaction";

export interface PartSeen {
  kind: "part.seen";
  message: string;
  type: PartKind;
  part: string;
  position: number;
  text?: string;
  tool?: string;
  call?: string;
  input?: string;
  output?: string;
  status?: "pending" | "running" | "completed" | "error";
  mime?: string;
  signed?: boolean;
  ignored?: boolean;
  synthetic?: boolean;
  ephemeral?: boolean;
  text_ref?: string;
  input_ref?: string;
  output_ref?: string;
  exit_code?: number;
  began?: string;
  ended?: string;
  child?: string;
}

export interface MessageSeen {
  kind: "message.seen";
  message: string;
  role: "user" | "assistant";
  at?: string;
  agent?: string;
  provider?: string;
  model?: string;
  synthetic?: boolean;
  parts?: Omit<PartSeen, "kind">[];
}

export interface Listed {
  message: string;
  parts?: string[];
}

export interface StepSeen {
  kind: "step.seen";
  step: string;
  previous?: string;
  after?: string;
  messages: Listed[];
  count: number;
  served: number;
  sent?: string;
  agent?: string;
  mode?: Mode;
  provider?: string;
  model?: string;
  context_limit?: number;
  output_limit?: number;
  capabilities?: string[];
  system_digest?: string;
  toolset?: string;
  denied?: string[];
  variant?: string;
}

export interface SessionSeen {
  kind: "session.seen";
  title?: string;
  parent?: string;
  directory?: string;
  agent?: string;
  mode?: Mode;
  version?: string;
  root?: string;
  vcs?: string;
  forked_from?: string;
  forked_at?: string;
}

export interface UsageSeen {
  kind: "usage.seen";
  message: string;
  input: number;
  output: number;
  reasoning: number;
  cache_read: number;
  cache_write: number;
  cost: number;
}

export type Item =
  | PartSeen
  | MessageSeen
  | StepSeen
  | SessionSeen
  | UsageSeen
  | { kind: "list.seen"; after?: string; messages: Listed[] }
  | { kind: "session.idle" }
  | { kind: "session.closed"; reason?: string }
  | { kind: "message.gone"; message: string }
  | { kind: "part.gone"; message: string; part: string }
  | { kind: "error.seen"; text: string; message?: string; name?: string; status?: number }
  | { kind: "compaction.seen"; auto?: boolean }
  | { kind: "todo.seen"; items: { content: string; status: string; priority: string }[] }
  | { kind: "tools.seen"; digest: string; tools: { name: string; description: string; parameters: string }[] }
  | { kind: "document.seen"; path: string; digest: string; text?: string; text_ref?: string }
  | { kind: "adapter.seen"; name: string; version: string; harness_version: string; digest: string };

/** One change between what the harness holds and what is served. */
export type Edit =
  | { op: "cut_before"; message: string }
  | { op: "set_head"; slot: number; text: string }
  | { op: "prefix_text" | "replace_text" | "append_text" | "replace_output"; part: string; text: string }
  | { op: "omit_part" | "restore"; part: string }
  | { op: "omit_message"; message: string }
  | { op: "omit_arc"; part: string; parts: string[] }
  | { op: "withdraw"; what: string }
  | { op: "insert_pair"; message: string; call: string; tool: string; input: string; output: string };

export interface Revision {
  revision: number;
  edits: Edit[];
  causes?: string[];
}

export interface Plan {
  status: "ready" | "late" | "resync" | "failed";
  pass?: string;
  revision?: number;
  revisions?: Revision[];
  more?: boolean;
  notices?: string[];
  reason?: string;
}

export interface Tool {
  name: string;
  description: string;
  parameters: Record<string, unknown>;
  verb: "wish" | "ask";
  subject: string;
}

export interface Line {
  name: string;
  description: string;
  verb: "wish" | "ask";
  subject: string;
  argument?: string;
}

/** What the service wants of an adapter: tools, commands, guidance, files. The same until it or its settings change. */
export interface Guide {
  digest: string;
  tools?: Tool[];
  lines?: Line[];
  system?: Partial<Record<Mode, string>>;
  skip?: string[];
  date?: string;
  documents?: string[];
  document_bytes?: number;
}

/** What an edit is about: of two edits with the same target the newer one holds. */
export function target(edit: Edit): string {
  switch (edit.op) {
    case "cut_before":
      return "cut";
    case "set_head":
      return `head:${edit.slot}`;
    case "omit_message":
      return `message:${edit.message}`;
    case "insert_pair":
      return `pair:${edit.message}`;
    case "append_text":
      return `append:${edit.part}`;
    case "withdraw":
      return edit.what;
    default:
      return `part:${edit.part}`;
  }
}
