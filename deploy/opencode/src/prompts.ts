/** What a session's calls have besides messages: its mode, the tools that they offer, and the system prompt. */

import type { ClientManifest, Mode } from "@annals/adapter-core/language";
import { decided, REDUCE, recordedGuidance, recordedMode } from "@annals/adapter-core/modes";
import * as system from "@annals/adapter-core/system";
import type { Agents } from "./agents.ts";
import { type Asides, systemKey } from "./asides.ts";
import * as rules from "./rules.ts";
import type { Session } from "./session.ts";

export class Prompts {
  /** `hasRival`: somebody else makes the prompts smaller, or nobody shall. */
  constructor(
    private readonly agents: Agents,
    private readonly asides: Asides,
    private readonly guide: ClientManifest,
    private readonly hasRival: () => boolean,
  ) {}

  /** The session's mode: set at its first step for good, from who started it and from the tools that it may use. */
  modeOf(session: Session): Mode {
    const isChild = session.seen?.parentID !== undefined;
    const offers = this.guide.tools?.some(({ name }) => name === REDUCE) ?? false;
    return recordedMode(session.record, isChild, () =>
      decided({
        hasRival: this.hasRival(),
        isChild,
        reduces: offers && !this.denied(session, [REDUCE]).includes(REDUCE),
      }),
    );
  }

  /** Of these tools, those that the session's calls do not offer. */
  denied(session: Session, tools: readonly string[]): string[] {
    const own = [...this.agents.rules(session.user?.agent ?? ""), ...rules.rulesOf(session.seen?.permission)];
    return rules.denied(tools, session.user?.tools, own);
  }

  /** The system prompt as it is sent, and its digest for the next step. */
  adjusted(session: Session, entries: string[]): string[] {
    const { guide } = this;
    const { user, record } = session;
    if (!user || session.isSummarizing) return entries; // a call of the session's own comes behind its messages
    if (rules.isHelperPrompt(entries, this.agents.all, user.agent ?? "")) return entries;
    const date = system.dateOf(entries, guide);
    if (system.isHelper(entries, guide)) {
      if (date) session.asides.add(systemKey(user)); // a helper's prompt has no date: the session's own agent is marked
      return entries;
    }
    if (this.asides.has(session, user)) return entries;
    const { isRebased } = session.plan;
    if (date && (record.date === "" || isRebased)) record.note({ date });
    const guidance = recordedGuidance(record, this.modeOf(session), isRebased);
    const sent = system.adjusted(entries, guide, guidance, record.date);
    session.systems.set(systemKey(user), system.digestOf(sent, guide));
    return sent;
  }
}
