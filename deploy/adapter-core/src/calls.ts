/** Calls of the tools and commands that the service defines: an agent's, and a person's. */

import { randomUUID } from "node:crypto";
import { routed } from "./actions.ts";
import type { Augmentation, Callable, Line, Mode, Tool } from "./language.ts";
import type { Service } from "./service.ts";
import { ask, command } from "./subjects.ts";
import { unreferenced } from "./timers.ts";
import { Unheard } from "./unheard.ts";

const TIMEOUT = 10_000;
/** The same where a model is asked: the service answers within 30 s. */
const AUGMENTING = 35_000;
const AWAY = "Annals cannot be reached right now, so nothing was done. Go on without it; it will be there again later.";
/** What a command is answered with that may have been done: whoever gives it again under another id may do it twice. */
const UNKNOWN =
  "Annals has not answered, so it is not known whether this was done. Look whether it is there before you do it again.";
const NOTHING = "Nothing was done, and Annals gives no reason.";
const EMPTY = "Annals has answered nothing. Ask again in a moment.";
/** How often a command is sent: under one id, so that it is done once. And the milliseconds in between. */
const ATTEMPTS = 2;
const PAUSE = 500;
const UNREACHED = "Annals cannot be reached right now.";
const TOO_LONG = "Nothing was done: the arguments are longer than one message may be. Give less of them.";
/** Bytes of a message that are left to its subject and its headers. */
const ROOM = 1024;

interface Reply {
  text?: string;
  error?: string;
  /** Of a command: whether it was done. */
  ok?: boolean;
  /** Nothing was decided: the same command may be sent again. */
  again?: boolean;
}

/** What goes out behind a message, and a sentence for the person that says how it was found or why there is nothing. */
export interface Addition {
  text: string;
  notice: string;
}

/** Who called, and where. The id makes a call that is repeated one call. */
export interface Call {
  project: string;
  session: string;
  id: string;
  actor: { kind: "agent" | "person"; id: string };
  /** The session that a question is about, where it is another one than that of the call. */
  about?: string;
  /** The message of the call, where there is one: a command keeps it as its source. */
  message?: string;
}

/** The answer to a call, as it is shown to whoever called; a sentence, too, where nobody can be reached. */
export async function call(
  service: Pick<Service, "broker" | "log">,
  to: Callable,
  from: Call,
  given: Record<string, unknown>,
): Promise<string> {
  const reply = await replied<Reply>(service, to, from, given, TIMEOUT);
  if (reply.text || reply.error) return reply.text || reply.error || "";
  if (to.verb === "ask") return EMPTY;
  return reply.ok ? "Done." : NOTHING;
}

/** The reply to a call; an error of ours where nobody can be reached. */
async function replied<R extends Reply>(
  service: Pick<Service, "broker" | "log">,
  { verb, subject }: Callable,
  { project, session, about, id, actor, message }: Call,
  given: Record<string, unknown>,
  timeout: number,
): Promise<R | Reply> {
  if (!service.broker.connected) return { error: AWAY };
  const isCommand = verb !== "ask";
  const question = isCommand
    ? { id: `${session}/${id}`, at: new Date().toISOString(), actor, data: message ? { ...given, message } : given }
    : { ...given, project, session: about || session, ...(about !== undefined && { asker: session }) };
  if (Buffer.byteLength(JSON.stringify(question)) + ROOM > service.broker.maxPayload) return { error: TOO_LONG };
  const to = isCommand ? command(project, session, subject) : ask(subject, project);
  const attempts = isCommand ? ATTEMPTS : 1;
  let mayBeDone = false;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const reply = await service.broker.request<R>(to, question, timeout);
      if (!isReply(reply, isCommand)) return { error: isCommand ? UNKNOWN : EMPTY };
      if (!reply.again) return reply;
      if (attempt >= attempts) return mayBeDone ? { error: UNKNOWN } : reply;
    } catch (error) {
      service.log.note("a call failed", { subject, error: String(error) });
      mayBeDone ||= isCommand && !(error instanceof Unheard);
      if (!mayBeDone || attempt >= attempts) return { error: mayBeDone ? UNKNOWN : AWAY };
    }
    await unreferenced(PAUSE);
  }
}

/** Whether this is a reply at all: that of a command says whether it was done. */
function isReply(reply: unknown, isCommand: boolean): boolean {
  return typeof reply === "object" && reply !== null && (!isCommand || typeof (reply as Reply).ok === "boolean");
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
  return call(service, line, byPerson(project, session), argumentOf(line, typed));
}

/** What is known that helps with a message which a person typed behind a slash command. */
export async function additionTo(
  service: Pick<Service, "broker" | "log">,
  project: string,
  session: string,
  line: Line,
  typed: string,
): Promise<Addition> {
  const from = byPerson(project, session);
  const reply = await replied<Reply & Augmentation>(service, line, from, argumentOf(line, typed), AUGMENTING);
  if (reply.error) return { text: "", notice: reply.error === AWAY ? UNREACHED : reply.error };
  const { hits = [], text = "", notice = "" } = reply as Augmentation;
  return { text: hits.length > 0 ? text : "", notice };
}

const byPerson = (project: string, session: string): Call => ({
  project,
  session,
  id: randomUUID(),
  actor: { kind: "person", id: "" },
});

const argumentOf = (line: Line, typed: string) => (line.argument && typed ? { [line.argument]: typed } : {});
