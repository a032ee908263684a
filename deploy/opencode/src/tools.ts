/** The tools that the service defines, in OpenCode's shape. */

import { randomUUID } from "node:crypto";
import { isFor } from "@annals/adapter-core/actions";
import { callTool } from "@annals/adapter-core/calls";
import type { Mode, Tool } from "@annals/adapter-core/language";
import type { Service } from "@annals/adapter-core/service";
import { fromJSONSchema, type ZodType } from "zod";
import type { Info } from "./harness.ts";

interface Called {
  sessionID: string;
  messageID?: string;
  callID?: string;
  agent?: string;
}

/** `projectOf`: the project that a session began in. `modeOf`: the mode of a session as it is now; empty before its first step. */
export function toolOf(
  service: Service,
  projectOf: (session: string) => string,
  tool: Tool,
  modeOf: (session: string) => Mode | "",
) {
  return {
    description: tool.description,
    args: argumentsOf(tool),
    execute: (given: Record<string, unknown>, { sessionID: session, messageID: message, callID, agent }: Called) => {
      const project = projectOf(session);
      const from = { project, session, id: callID ?? randomUUID(), actor: { kind: "agent" as const, id: agent ?? "" } };
      return callTool(service, tool, { ...from, ...(message && { message }), mode: modeOf(session) }, given);
    },
  };
}

/** Have a person's message, or an agent's to its sub-agent, offer none of our tools that its session's mode forbids. */
export function withhold(message: Info, tools: readonly Tool[], mode: Mode | "") {
  if (mode !== "subagent") return; // only of these it is certain before their first step, and for ever
  const names = tools.filter((tool) => !isFor(tool.modes, mode)).map(({ name }) => name);
  if (names.length > 0) message.tools = { ...message.tools, ...Object.fromEntries(names.map((name) => [name, false])) };
}

/** OpenCode takes optional arguments only as zod's own objects. */
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
