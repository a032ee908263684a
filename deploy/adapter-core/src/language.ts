/** The wire's types by the names that an adapter uses, and its limits. `wire.ts` is generated from the schemas. */

import type { Inbound, MessageSeen as Message, PartSeen as Part, Plan, Revision, StepSeen, Tool } from "./wire.ts";

export type {
  Attachment,
  Augmentation,
  ClientManifest,
  ClientManifestAsk,
  ErasureOrder,
  ErasureOrders,
  ErasuresAsk,
  Line,
  Listed,
  OfferedQuestion,
  Plan,
  ProjectSettingsReply,
  QuestionAsk,
  Revision,
  SessionSeen,
  StepSeen,
  Tool,
  ToolsSeen,
} from "./wire.ts";

/** A text longer than this travels in a bucket, and the message carries its reference. */
export const MAX_BODY_BYTES = 256 * 1024;
/** The most that one inbound message may hold. */
export const MAX_PIECE_BYTES = 512 * 1024;
/** The most messages listed in one piece of a step. */
export const LISTED_AT_ONCE = 2000;
export const INBOUND_BODIES = "inbound";

/** A part of a message, as it is reported alone. Adapters name their parts. */
export type PartSeen = Part & Required<Pick<Part, "part">>;
/** A message's parts need no kind: they can be nothing else. */
export type BarePart = Omit<PartSeen, "kind">;
export type MessageSeen = Omit<Message, "parts"> & { parts?: BarePart[] };

/** One thing that a harness saw. */
export type Item = Exclude<Inbound["items"][number], Part | Message> | PartSeen | MessageSeen;

/** One change between what the harness holds and what is served. */
export type Edit = Revision["edits"][number];
export type EditOf<Op extends Edit["op"]> = Extract<Edit, { op: Op }>;

export type Mode = NonNullable<StepSeen["mode"]>;
export type Capability = NonNullable<StepSeen["capabilities"]>[number];
export type PlanStatus = Plan["status"];

/** What a tool's definition and a command's have in common: where a call of it goes. */
export type Callable = Pick<Tool, "verb" | "subject">;

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
