/** One session: what has been told of it, the list of its last step, and the plan in hand. */

import { apply } from "./apply.ts";
import { Breaker } from "./breaker.ts";
import type { BusEvent, Entry, Info, Part, Session as Seen } from "./harness.ts";
import type { Kept } from "./kept.ts";
import type { Item, Listed, Plan, Revision, StepSeen } from "./language.ts";
import { taken } from "./pages.ts";
import * as translate from "./translate.ts";

const UNKNOWN = -1;

export class Session {
  title = "";
  /** The harness's record of it, once it has been seen. */
  seen: Seen | undefined;
  /** The newest message of a person: it names the agent and the model. */
  user: Info | undefined;
  /** A turn is under way. */
  isBusy = false;
  isIntroduced = false;
  isFollowed = false;
  /** The next transform is that of the harness's own compaction. */
  isCompacting = false;
  /** Until its end, the session's model calls are the compaction's. */
  isSummarizing = false;
  /** The step in hand changed covered messages: what else is frozen may change with it. */
  isRebased = false;
  brief = "";
  toolset = "";
  readonly breaker = new Breaker();
  /** Ids of events that were told since the event log was last compared. */
  readonly recent = new Set<string>();
  readonly systems = new Map<string, string>();
  /** Whose system prompts say that they are to be left alone. */
  readonly asides = new Set<string>();
  private readonly told = new Set<string>();
  private readonly infos = new Map<string, string>();
  private readonly finished = new Set<string>();
  private readonly unsettled = new Map<string, Part>();
  private readonly positions = new Map<string, string[]>();
  private readonly changed = new Set<string>();
  private last: string[] = [];
  /** The last message of what the newest list and the one before it begin with. */
  private sent: string | undefined;
  private step = "";
  /** Revisions of a rebase of which the end has not come yet, and the person's message that they came for. */
  private coming: Revision[] = [];
  private comingFor = "";

  /** `isAside` tells of a message of an agent whether a helper wrote it. */
  constructor(
    readonly id: string,
    readonly kept: Kept,
    private readonly isAside: (info: Info) => boolean,
  ) {}

  /** The newest message of the last list. */
  get newest(): string {
    return this.last.at(-1) ?? "";
  }

  /** What an event tells, if anything. What is not settled waits for its end. */
  hear(event: BusEvent, isOld = false): Item[] {
    const properties = event.properties ?? {};
    switch (event.type) {
      case "message.updated":
        return this.hearMessage(properties.info as Info);
      case "message.part.updated":
        return properties.part ? this.hearPart(properties.part, isOld) : [];
      case "message.removed":
        return properties.messageID ? [{ kind: "message.gone", message: properties.messageID }] : [];
      case "message.part.removed":
        return this.hearPartGone(properties.messageID ?? "", properties.partID ?? "");
      case "session.idle":
        return [{ kind: "session.idle" }];
      case "session.error":
        return properties.error ? [translate.failure(properties.error)] : [];
      case "session.compacted":
        this.summarized();
        return [{ kind: "compaction.seen" }];
      case "todo.updated":
        return [translate.todos(event)];
      default:
        return [];
    }
  }

  private hearMessage(info: Info): Item[] {
    const items: Item[] = [];
    const seen = translate.message(info);
    const shape = JSON.stringify(seen);
    if (this.infos.get(info.id) !== shape) {
      this.infos.set(info.id, shape);
      items.push(seen);
    }
    const isOver = info.time?.completed !== undefined || info.error !== undefined;
    if (info.role === "assistant" && isOver && !this.finished.has(info.id)) {
      this.finished.add(info.id);
      if (info.summary === true) this.summarized();
      const outcome = translate.outcome(info);
      const told = this.isAside(info) ? outcome.filter(({ kind }) => kind !== "usage.seen") : outcome;
      items.push(...this.settle(info.id), ...told);
    }
    return items;
  }

  /** The harness's own compaction is over, or was never made. */
  summarized(): void {
    this.isCompacting = false;
    this.isSummarizing = false;
  }

  private hearPart(part: Part, isOld: boolean): Item[] {
    const position = this.position(part);
    if (!translate.isSettled(part)) {
      this.unsettled.set(part.id, part);
      return [];
    }
    this.unsettled.delete(part.id);
    const seen = translate.part(part, position);
    if (!seen || (isOld && this.isTold(part))) return [];
    this.told.add(part.id);
    return [seen];
  }

  private hearPartGone(message: string, part: string): Item[] {
    this.told.delete(part);
    this.unsettled.delete(part);
    this.changed.add(message);
    return [{ kind: "part.gone", message, part }];
  }

  /** The parts of a finished message that were broken off. */
  private settle(message: string): Item[] {
    const left = [...this.unsettled.values()].filter((part) => part.messageID === message);
    return left.flatMap((part) => {
      this.unsettled.delete(part.id);
      this.told.add(part.id);
      return translate.part(part, this.position(part)) ?? [];
    });
  }

  private position(part: Part): number {
    const known = this.positions.get(part.messageID) ?? [];
    this.positions.set(part.messageID, known);
    const at = known.indexOf(part.id);
    if (at >= 0) return at;
    this.changed.add(part.messageID);
    return known.push(part.id) - 1;
  }

  private isTold(part: Part): boolean {
    return this.told.has(part.id) || part.messageID <= this.kept.told;
  }

  /** The next step: what has not been told of the listed messages, and the list as the difference to the last one. */
  open(
    step: string,
    entries: readonly Entry[],
    details: Partial<StepSeen>,
    isWhole = false,
  ): { items: Item[]; message: StepSeen } {
    const common = isWhole ? 0 : this.common(entries);
    const after = common > 0 ? this.last[common - 1] : undefined;
    if (!isWhole) this.sent = this.last.length > 0 ? after : this.kept.sent || undefined;
    const items: Item[] = [];
    const messages: Listed[] = [];
    for (const entry of entries.slice(common)) {
      items.push(...this.untold(entry));
      messages.push({ message: entry.info.id, parts: this.listed(entry) });
    }
    const message: StepSeen = translate.compact({
      kind: "step.seen" as const,
      ...details,
      step,
      previous: this.step || undefined,
      after,
      messages,
      count: entries.length,
      sent: after ? undefined : this.sent,
      served: this.step || this.kept.isKnown ? this.kept.revision : UNKNOWN,
    });
    this.step = step;
    this.last = entries.map((entry) => entry.info.id);
    this.changed.clear();
    this.kept.note({ sent: this.newest });
    return { items, message };
  }

  /** How many messages this list and the last one begin with. */
  private common(entries: readonly Entry[]): number {
    let count = 0;
    while (count < entries.length && count < this.last.length) {
      const id = entries[count]?.info.id;
      if (id !== this.last[count] || id === undefined || this.changed.has(id)) break;
      count += 1;
    }
    return count;
  }

  private untold(entry: Entry): Item[] {
    const { info, parts } = entry;
    const shape = JSON.stringify(translate.message(info));
    const isKnown = this.infos.get(info.id) === shape || info.id <= this.kept.told;
    const fresh = parts.filter((part) => !this.isTold(part));
    this.infos.set(info.id, shape);
    if (isKnown && fresh.length === 0) return [];
    const seen = translate.entry(entry, (part) => this.isEphemeral(part, info));
    const names = new Set(fresh.filter((part) => !this.isEphemeral(part, info)).map((part) => part.id));
    for (const part of fresh) if (names.has(part.id) && translate.isSettled(part)) this.told.add(part.id);
    return [{ ...seen, parts: (seen.parts ?? []).filter((part) => names.has(part.part)) }];
  }

  private listed({ info, parts }: Entry): string[] {
    return parts
      .filter((part, position) => translate.part(part, position) && !this.isEphemeral(part, info))
      .map((part) => part.id);
  }

  /** Whether the harness made this part for one call only: it says so in no event, under a new id each time. */
  private isEphemeral(part: Part, info: Info): boolean {
    if (part.type !== "text" || part.synthetic !== true || info.role !== "user") return false;
    return this.isFollowed && !this.isTold(part) && !this.unsettled.has(part.id);
  }

  /** A step asks for its plan: what has come of an unfinished rebase counts only for another message of a person. */
  asks(): void {
    if (this.comingFor === this.user?.id) this.coming = [];
    this.comingFor = this.user?.id ?? "";
  }

  /** The revision behind which the next page begins. */
  get base(): number {
    return this.coming.at(-1)?.revision ?? this.kept.revision;
  }

  /** Take what a reply brings. */
  take(plan: Plan): void {
    const { whole, coming } = taken(this.coming, plan);
    this.coming = coming;
    this.kept.take(whole);
    if (whole.some((revision) => (revision.causes ?? []).length > 0)) this.isRebased = true;
  }

  serve(entries: readonly Entry[]): Entry[] {
    return apply(entries, this.kept.edits);
  }
}
