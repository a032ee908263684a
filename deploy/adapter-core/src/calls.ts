/** Calls of the tools and commands that the service defines: an agent's, and a person's. */

import { randomUUID } from "node:crypto";
import { routed } from "./actions.ts";
import type { Callable, Line, Mode, Tool } from "./language.ts";
import type { Service } from "./service.ts";
import { ask, command } from "./subjects.ts";

const TIMEOUT = 10_000;
const AWAY = "Annals cannot be reached right now, so nothing was done. Go on without it; it will be there again later.";

const TOO_LONG = "Nothing was done: what was given is longer than one message carries. Give less of it.";
/** Bytes of a message that are left to its subject and its headers. */
const ROOM = 1024;

interface Reply {
  text?: string;
  error?: string;
}

/** Who called, and where. The id makes a call that is repeated one call. */
export interface Call {
  project: string;
  session: string;
  id: string;
  actor: { kind: "agent" | "person"; id: string };
  /** The session that a question is about, where it is another one than that of the call. */
  about?: string;
  /** The message that the call stands in, where there is one: a command keeps it as its source. */
  message?: string;
}

/** The answer to a call, as it is shown to whoever called; a sentence, too, where nobody can be reached. */
export async function call(
  service: Pick<Service, "broker" | "log">,
  { verb, subject }: Callable,
  { project, session, about, id, actor, message }: Call,
  given: Record<string, unknown>,
): Promise<string> {
  if (!service.broker.connected) return AWAY;
  const isCommand = verb !== "ask";
  const question = isCommand
    ? { id: `${session}/${id}`, at: new Date().toISOString(), actor, data: message ? { ...given, message } : given }
    : { ...given, project, session: about || session, ...(about !== undefined && { asker: session }) };
  if (Buffer.byteLength(JSON.stringify(question)) + ROOM > service.broker.maxPayload) return TOO_LONG;
  try {
    const to = isCommand ? command(project, session, subject) : ask(subject, project);
    const reply = await service.broker.request<Reply>(to, question, TIMEOUT);
    return reply.text || reply.error || "Done.";
  } catch (error) {
    service.log.note("a call failed", { subject, error: String(error) });
    return AWAY;
  }
}

/** The answer to an agent's call of a tool in a session of this mode. */
export async function callTool(
  service: Pick<Service, "broker" | "log">,
  tool: Tool,
  { mode, ...from }: Call & { mode: Mode | "" },
  given: Record<string, unknown>,
): Promise<string> {
  const route = routed(tool, given, mode);
  if ("refusal" in route) return route.refusal;
  return call(service, route.to, takesSession(tool) ? { ...from, about: named(given) } : from, route.given);
}

/** Whether a question of this tool may be about another session: any other tool says nothing of sessions. */
function takesSession({ parameters }: Tool): boolean {
  const { properties } = parameters as { properties?: Record<string, unknown> };
  return properties !== undefined && Object.hasOwn(properties, "session");
}

/** The session that a call names; empty: none. */
function named({ session }: Record<string, unknown>): string {
  return typeof session === "string" ? session.trim() : "";
}

/** The answer to what a person typed as a slash command. */
export function callLine(
  service: Pick<Service, "broker" | "log">,
  project: string,
  session: string,
  line: Line,
  typed: string,
): Promise<string> {
  const given = line.argument && typed ? { [line.argument]: typed } : {};
  return call(service, line, { project, session, id: randomUUID(), actor: { kind: "person", id: "" } }, given);
}
