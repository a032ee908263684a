/** OpenCode's messages, parts and events in the language of the inbox. Pure. */

import { compact } from "@annals/adapter-core/compact";
import type { Item, MessageSeen, PartSeen, SessionSeen } from "@annals/adapter-core/language";
import { wellFormed } from "@annals/adapter-core/texts";
import { attachments } from "./attachments.ts";
import type { BusEvent, Entry, Failure, Info, Part, Session } from "./harness.ts";
import { HARNESS } from "./identity.ts";
import { CLEARED } from "./shape.ts";
import { isSigned } from "./thinking.ts";

export const moment = (milliseconds: number | undefined) =>
  milliseconds === undefined ? undefined : new Date(milliseconds).toISOString();

const CARRYING = new Set(["text", "reasoning", "file", "compaction", "tool"]);

/** Whether a part carries something to a model. */
export const isCarrying = (seen: Part) => CARRYING.has(seen.type);

/**
 * Whether a text can be what a person has typed: neither OpenCode nor a plugin has marked it as its own. Who else wrote
 * it, and when it came, the session knows.
 */
export const isTypable = ({ type, synthetic, ignored, metadata }: Part) =>
  type === "text" && synthetic !== true && ignored !== true && Object.keys(metadata ?? {}).length === 0;

/** How a text was typed: by whom, if the plugin knows that, and whether OpenCode has put it into quotation marks. */
export type Typing = Pick<PartSeen, "typed" | "quoted">;

/**
 * Whether a text is one of these arguments in quotation marks. OpenCode's `run` puts its words in them where they have
 * blanks. What a person has put into quotation marks themselves is a quotation.
 */
export const isQuotedArgument = (text: string, argv: readonly string[]) =>
  argv.some((argument) => argument.includes(" ") && text === `"${argument.replaceAll('"', '\\"')}"`);

/** A part; undefined for those that no model sees. */
export function part(seen: Part, position: number, typing: Typing = {}): PartSeen | undefined {
  const base = { kind: "part.seen" as const, message: seen.messageID, part: seen.id, position };
  switch (seen.type) {
    case "text":
      return compact({
        ...base,
        type: "text",
        text: seen.text ?? "",
        ignored: seen.ignored,
        synthetic: seen.synthetic,
        ...typing,
      });
    case "reasoning":
      return compact({ ...base, type: "reasoning", text: seen.text ?? "", signed: isSigned(seen.metadata) });
    case "file":
      return compact({ ...base, type: "file", text: seen.url ?? "", mime: seen.mime, filename: seen.filename });
    case "compaction":
      return { ...base, type: "compaction" };
    case "tool":
      return tool(seen, base);
    default:
      return undefined;
  }
}

function tool(seen: Part, base: Pick<PartSeen, "kind" | "message" | "part" | "position">): PartSeen {
  const state = seen.state ?? {};
  const { exit, sessionId } = (state.metadata ?? {}) as { exit?: unknown; sessionId?: unknown };
  return compact({
    ...base,
    type: "tool",
    tool: seen.tool,
    call: seen.callID,
    input: state.input === undefined ? "" : JSON.stringify(wellFormed(state.input)),
    output: state.time?.compacted ? CLEARED : ((state.status === "error" ? state.error : state.output) ?? ""),
    attachments: attachments(state),
    status: isOneOf(state.status, ["completed", "error", "running"]) ? state.status : "pending",
    exit_code: typeof exit === "number" ? exit : undefined,
    began: moment(state.time?.start),
    ended: moment(state.time?.end),
    child: typeof sessionId === "string" ? sessionId : undefined,
  });
}

function isOneOf<T extends string>(value: string | undefined, among: readonly T[]): value is T {
  return among.includes(value as T);
}

/** A message without its parts. */
export function message(info: Info): MessageSeen {
  const meant = info.role === "user" ? info.model : info;
  return compact({
    kind: "message.seen",
    message: info.id,
    role: info.role,
    at: moment(info.time?.created),
    agent: info.agent ?? info.mode,
    provider: meant?.providerID,
    model: meant?.modelID,
    synthetic: info.summary === true ? true : undefined,
  });
}

/** A message with all its parts as they are now. */
export function entry({ info, parts }: Entry, isEphemeral: (part: Part) => boolean): MessageSeen {
  const seen = parts.flatMap((one, position) => {
    const item = part(one, position);
    if (!item) return [];
    const { kind: _, ...bare } = item;
    return [isEphemeral(one) ? { ...bare, ephemeral: true } : bare];
  });
  return { ...message(info), parts: seen };
}

/** Whether a part will not change any more. */
export function isSettled(seen: Part): boolean {
  if (seen.type === "tool") return seen.state?.status === "completed" || seen.state?.status === "error";
  return !(seen.time?.start !== undefined && seen.time.end === undefined);
}

/** What a finished answer reports in addition to its parts. */
export function outcome(info: Info): Item[] {
  const { tokens, error } = info;
  const items: Item[] = [];
  const cache = tokens?.cache ?? {};
  if (tokens && (tokens.input || tokens.output || cache.read || cache.write)) {
    items.push({
      kind: "usage.seen",
      message: info.id,
      input: tokens.input ?? 0,
      output: tokens.output ?? 0,
      reasoning: tokens.reasoning ?? 0,
      cache_read: cache.read ?? 0,
      cache_write: cache.write ?? 0,
      cost: info.cost ?? 0,
    });
  }
  if (error) items.push(failure(error, info.id));
  return items;
}

export function failure(error: Failure, messageId?: string): Item {
  const { message = "", responseBody = "" } = error.data ?? {};
  const words = responseBody.includes(message) ? responseBody : `${message}\n${responseBody}`.trim();
  const text = words || error.name || "an error without words";
  return compact({
    kind: "error.seen",
    text,
    message: messageId,
    name: error.name,
    status: error.data?.statusCode,
  });
}

export function todos(event: BusEvent): Item {
  const items = (event.properties?.todos ?? []).map((todo) => ({
    content: todo.content ?? "",
    status: todo.status ?? "pending",
    priority: todo.priority ?? "",
  }));
  return { kind: "todo.seen", items };
}

/** The report of which adapter makes the reports that follow. */
export function adapter({ version = "" }: Session, build: { version: string; digest: string }, rival: string): Item {
  return {
    kind: "adapter.seen",
    name: HARNESS,
    version: build.version,
    harness_version: version,
    digest: build.digest,
    ...(rival ? { rival } : {}),
  };
}

/** Where a session's project lies, and what it was called before; empty: nothing else. */
export type Place = Required<Pick<SessionSeen, "root" | "vcs" | "home" | "former">>;

export function session(seen: Session, place: Place, isHelpers: boolean): SessionSeen {
  const mode = seen.parentID ? ("subagent" as const) : ("primary" as const);
  return compact({
    kind: "session.seen" as const,
    title: seen.title,
    parent: seen.parentID,
    directory: seen.directory,
    mode: isHelpers ? ("hidden" as const) : mode,
    version: seen.version,
    root: place.root,
    vcs: place.vcs,
    home: place.home,
    former: place.former.length > 0 ? place.former : undefined,
  });
}
