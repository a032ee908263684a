/** The plan in hand of one session: what the service has answered of it, and what is on its way. */

import type { Edits } from "./apply.ts";
import type { Plan, Revision } from "./language.ts";
import { taken } from "./pages.ts";
import type { SessionRecord } from "./record.ts";

export class PlanInHand {
  /** The step in hand changed covered messages: what else is frozen may change with it. */
  isRebased = false;
  /** The step in hand is served, and its prompt can be made no smaller. */
  isFull = false;
  /** Revisions of a rebase of which the end has not come yet, and the person's message that they came for. */
  private coming: Revision[] = [];
  private comingFor = "";

  constructor(private readonly record: SessionRecord) {}

  get edits(): Edits {
    return this.record.edits;
  }

  /** A step asks for its plan: what has come of an unfinished rebase counts only for another message of a person. */
  asks(turn: string | undefined): void {
    this.isFull = false;
    if (this.comingFor === turn) this.coming = [];
    this.comingFor = turn ?? "";
  }

  /** The revision behind which the next page begins. */
  get base(): number {
    return this.coming.at(-1)?.revision ?? this.record.revision;
  }

  /** Take what a reply brings; false where the service has lost a part of the plan, which is to be fetched anew then. */
  take(plan: Plan): boolean {
    if (!plan.revisions?.length && (plan.revision ?? 0) < this.record.revision) {
      this.coming = [];
      this.isRebased = true;
      this.record.reset();
      return false;
    }
    this.isFull ||= plan.full ?? false;
    const { whole, coming } = taken(this.coming, plan);
    this.coming = coming;
    this.record.take(whole);
    if (whole.some((revision) => (revision.causes ?? []).length > 0)) this.isRebased = true;
    return true;
  }
}
