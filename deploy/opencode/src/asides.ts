/** Which model calls are none of the session's own: a helper's, or an agent's that is to be left alone. */

import type { ClientManifest } from "@annals/adapter-core/language";
import * as system from "@annals/adapter-core/system";
import type { Agents } from "./agents.ts";
import type { Info } from "./harness.ts";
import * as rules from "./rules.ts";
import type { Session } from "./session.ts";

export class Asides {
  /** Sessions that an agent's call has started. */
  private readonly delegated = new Set<string>();

  constructor(
    private readonly agents: Agents,
    private readonly guide: ClientManifest,
  ) {}

  /** An agent's call has started this session: its work is none of a helper's. */
  delegate(session: string): void {
    this.delegated.add(session);
  }

  forget(session: string): void {
    this.delegated.delete(session);
  }

  /** Whether a message's call is none of the session's own. */
  has(session: Session, info: Info | undefined): boolean {
    const name = info?.agent ?? info?.mode ?? "";
    return (
      info?.summary === true ||
      session.asides.has(systemKey(info)) ||
      this.isHelpers(session, name) ||
      system.isHelper([this.agents.prompt(name), info?.system ?? ""], this.guide)
    );
  }

  /** Whether an agent in this session works for OpenCode or a plugin. */
  isHelpers(session: Session, agent: string): boolean {
    const isWork = this.delegated.has(session.id) || (session.seen !== undefined && rules.isDelegated(session.seen));
    return this.agents.isHelper(agent) && !isWork;
  }
}

/** Names the system prompt of a message's calls: of the person's, and of the agent's answer to it. */
export function systemKey(info: Info | undefined): string {
  const { providerID = "", modelID = "" } = (info?.role === "user" ? info.model : info) ?? {};
  return `${info?.agent ?? ""}|${providerID}/${modelID}`;
}
