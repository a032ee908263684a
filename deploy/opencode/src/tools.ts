/** The tools and commands that the service defines, in the harness's shape. */

import { randomUUID } from "node:crypto";
import { fromJSONSchema, type ZodType } from "zod";
import type { Line, Tool } from "./language.ts";
import type { Service } from "./service.ts";
import { ask, wish } from "./subjects.ts";

const TIMEOUT = 10_000;
const AWAY = "Annals cannot be reached right now, so nothing was done. Go on without it; it will be there again later.";

interface Reply {
  text?: string;
  error?: string;
}

interface Called {
  sessionID: string;
  callID?: string;
  agent?: string;
}

/** Who called what, and where. */
interface Call {
  project: string;
  session: string;
  id: string;
  actor: { kind: "agent" | "person"; id: string };
}

export function toolOf(service: Service, project: string, tool: Tool) {
  return {
    description: tool.description,
    args: argumentsOf(tool),
    execute: (given: Record<string, unknown>, context: Called) => {
      const id = context.callID ?? randomUUID();
      const actor = { kind: "agent" as const, id: context.agent ?? "" };
      return call(service, tool, { project, session: context.sessionID, id, actor }, given);
    },
  };
}

/** What a person typed as a slash command. */
export function runLine(service: Service, project: string, session: string, line: Line, typed: string) {
  const given = line.argument && typed ? { [line.argument]: typed } : {};
  return call(service, line, { project, session, id: randomUUID(), actor: { kind: "person", id: "" } }, given);
}

async function call(
  service: Service,
  { verb, subject }: Pick<Tool, "verb" | "subject">,
  { project, session, id, actor }: Call,
  given: Record<string, unknown>,
): Promise<string> {
  if (!service.broker.connected) return AWAY;
  const isWish = verb === "wish";
  const question = isWish
    ? { id: `${session}/${id}`, at: new Date().toISOString(), actor, data: given }
    : { ...given, project, session };
  try {
    const to = isWish ? wish(project, session, subject) : ask(subject, project);
    const reply = await service.broker.request<Reply>(to, question, TIMEOUT);
    return reply.text || reply.error || "Done.";
  } catch (error) {
    service.log.note("a call failed", { subject, error: String(error) });
    return AWAY;
  }
}

/** The harness takes optional arguments only as zod's own objects. */
function argumentsOf(tool: Tool): Record<string, ZodType> {
  const properties = (tool.parameters.properties ?? {}) as Record<string, Record<string, unknown>>;
  const required = (tool.parameters.required ?? []) as string[];
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => {
      const type = fromJSONSchema(schema as Parameters<typeof fromJSONSchema>[0]);
      const described = typeof schema.description === "string" ? type.describe(schema.description) : type;
      return [name, required.includes(name) ? described : described.optional()];
    }),
  );
}
