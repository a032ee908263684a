/** One session: what has been told of it, the list of its last step, and the plan in hand. */

import { apply } from "./apply.ts";
import { Breaker } from "./breaker.ts";
import type { BusEvent, Entry, Info, Part, Session as Seen } from "./harness.ts";
import type { Kept } from "./kept.ts";
import type { Item, Listed, Mode, Plan, StepSeen } from "./language.ts";
import * as translate from "./translate.ts";

const UNKNOWN = -1;

export class Session {
  /** Decided at the first step, once and for all; empty before that. */
  mode: Mode | "" = "";
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
  /** The step in hand changed covered messages: what else is frozen may change with it. */
  isRebased = false;
  brief = "";
  toolset = "";
  readonly breaker = new Breaker();
  /** Ids of events that were told since the event log was last compared. */
  readonly recent = new Set<string>();
  readonly systems = new Map<string, string>();
  private readonly told = new Set<string>();
  private readonly infos = new Map<string, string>();
  private readonly finished = new Set<string>();
  private readonly unsettled = new Map<string, Part>();
  private readonly positions = new Map<string, string[]>();
  private readonly changed = new Set<string>();
  private last: string[] = [];
  private step = "";

  constructor(
    readonly id: string,
    readonly kept: Kept,
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
      items.push(...this.settle(info.id), ...translate.outcome(info));
    }
    return items;
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
      after: common > 0 ? this.last[common - 1] : undefined,
      messages,
      count: entries.length,
      served: this.step || this.kept.isKnown ? this.kept.revision : UNKNOWN,
    });
    this.step = step;
    this.last = entries.map((entry) => entry.info.id);
    this.changed.clear();
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

  /** Take what a reply brings; whether the plan is whole. */
  take(plan: Plan): void {
    this.kept.take(plan.revisions ?? []);
    if (plan.revisions?.some((revision) => (revision.causes ?? []).length > 0)) this.isRebased = true;
  }

  serve(entries: readonly Entry[]): Entry[] {
    return apply(entries, this.kept.edits);
  }
}
