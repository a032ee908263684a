/** One session: what has been reported of it, the list of its last step, and the plan in hand. */

import { apply } from "@annals/adapter-core/apply";
import { Breaker } from "@annals/adapter-core/breaker";
import { ContextKeeper } from "@annals/adapter-core/compaction";
import type { Item, Listed, Mode, StepSeen } from "@annals/adapter-core/language";
import type { Log } from "@annals/adapter-core/log";
import { PlanInHand } from "@annals/adapter-core/plan";
import type { SessionRecord } from "@annals/adapter-core/record";
import { StepList } from "@annals/adapter-core/steps";
import { Foreign } from "./foreign.ts";
import type { Origin } from "./forks.ts";
import type { BusEvent, Client, Entry, Info, Part, Session as Seen } from "./harness.ts";
import { Heard } from "./heard.ts";
import { SHAPE } from "./shape.ts";
import * as translate from "./translate.ts";

export class Session {
  title = "";
  /** The harness's record of it, once it has been seen. */
  seen: Seen | undefined;
  /** The session that it was copied from, where that was found and is not reported yet. */
  origin: Origin | undefined;
  /** The newest message of a person: it names the agent and the model. */
  user: Info | undefined;
  isIntroduced = false;
  isFollowed = false;
  /** Texts that were added to messages and that the person has not seen yet. */
  readonly added: string[] = [];
  /** The next transform is that of the harness's own compaction. */
  isCompacting = false;
  /** Until its end, the session's model calls are the compaction's. */
  isSummarizing = false;
  /** The message of the harness's own compaction under way; empty: none is, or it has not been heard of. */
  private summary = "";
  brief = "";
  toolset = "";
  readonly breaker = new Breaker();
  readonly keeper = new ContextKeeper();
  readonly plan: PlanInHand;
  readonly foreign: Foreign;
  readonly heard = new Heard();
  /** Settles when what was heard has been compared with the event log, as often as that was asked for. */
  compared: Promise<void> = Promise.resolve();
  readonly systems = new Map<string, string>();
  /** Whose system prompts say that they are to be left alone. */
  readonly asides = new Set<string>();
  private readonly reportedParts = new Set<string>();
  private readonly infos = new Map<string, string>();
  /** Messages of a person that were heard as they came: only what comes with them can be a person's typing. */
  private readonly prompted = new Set<string>();
  private readonly finished = new Set<string>();
  private readonly unsettled = new Map<string, Part>();
  private readonly positions = new Map<string, string[]>();
  private readonly steps: StepList;

  /** `isAside`: whether a helper wrote a message of an agent. */
  constructor(
    readonly id: string,
    readonly record: SessionRecord,
    private readonly isAside: (info: Info) => boolean,
    client: Pick<Client, "session">,
    log: Log,
  ) {
    this.foreign = new Foreign(client, log);
    this.plan = new PlanInHand(record);
    this.steps = new StepList(record);
  }

  /** The person's message that the turn in hand answers. */
  get turn(): string | undefined {
    return this.user?.id;
  }

  /** Its mode as it is now, an agent's own in any case; empty before its first step. */
  get mode(): Mode | "" {
    return this.seen?.parentID === undefined ? this.record.mode : "subagent";
  }

  /** The newest message of the last list. */
  get newest(): string {
    return this.steps.newest;
  }

  /** The report of the session itself, and of the adapter that makes it, once. */
  introduction(adapter: Item, session: Item): Item[] {
    const items = this.isIntroduced ? [session] : [adapter, session];
    this.isIntroduced = true;
    return items;
  }

  /** The items of an event, if any. A message or part that is still changing waits for its end. */
  hear(event: BusEvent, isOld = false): Item[] {
    const properties = event.properties ?? {};
    const isFirst = !isOld && !this.heard.has(event);
    const isListed = isOld && this.reportedParts.has(properties.part?.id ?? "") && !this.heard.has(event);
    this.heard.note(event);
    if (isListed) return []; // a step's list is newer than an event that nobody heard
    switch (event.type) {
      case "message.updated":
        return this.hearMessage(properties.info as Info, isFirst);
      case "message.part.updated":
        return properties.part ? this.hearPart(properties.part, isOld, isFirst) : [];
      case "message.removed":
        return properties.messageID ? [{ kind: "message.gone", message: properties.messageID }] : [];
      case "message.part.removed":
        return this.hearPartGone(properties.messageID ?? "", properties.partID ?? "");
      case "session.idle":
        return [{ kind: "session.idle" }];
      case "session.error":
        return properties.error ? [translate.failure(properties.error)] : [];
      case "session.compacted":
        return [this.compacted()];
      case "todo.updated":
        return [translate.todos(event)];
      default:
        return [];
    }
  }

  /** The harness has compacted: the content of its newest summary holds from now on. */
  private compacted(): Item {
    const { summary } = this;
    this.summarized();
    this.summary = "";
    return { kind: "compaction.seen", ...(summary && { summary }) };
  }

  private hearMessage(info: Info, isFirst: boolean): Item[] {
    const items: Item[] = [];
    if (isFirst && info.role === "user" && this.isLedByPerson && !this.isAside(info)) this.prompted.add(info.id);
    if (info.role === "assistant" && info.summary === true) this.summary = info.id;
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
      const reported = this.isAside(info) ? outcome.filter(({ kind }) => kind !== "usage.seen") : outcome;
      items.push(...this.settle(info.id), ...reported);
    }
    return items;
  }

  /** The harness's own compaction is over, or was never made. */
  summarized(): void {
    this.isCompacting = false;
    this.isSummarizing = false;
  }

  /** Whether a person leads the session: no agent has started it, and it is no helper's. */
  private get isLedByPerson(): boolean {
    return this.seen !== undefined && this.mode !== "subagent" && this.mode !== "hidden";
  }

  /** It is vouched for what came with a person's message, for the first time and before a model was sent it. */
  private typing(part: Part, isFirst: boolean): translate.Typing {
    const isNew = isFirst && !this.reportedParts.has(part.id) && part.messageID > this.newest;
    if (!isNew || !this.prompted.has(part.messageID) || !translate.isTypable(part)) return {};
    const isQuoted = translate.isQuotedArgument(part.text ?? "", process.argv);
    return { typed: true, ...(isQuoted && { quoted: true }) };
  }

  private hearPart(part: Part, isOld: boolean, isFirst: boolean): Item[] {
    if (!isOld) this.follow(part);
    const position = this.position(part);
    if (!translate.isSettled(part)) {
      this.unsettled.set(part.id, part);
      return [];
    }
    this.unsettled.delete(part.id);
    const seen = translate.part(part, position, this.typing(part, isFirst));
    if (!seen) return [];
    this.reportedParts.add(part.id);
    return [seen];
  }

  /** How far the call in hand is: once a step has begun, the provider has taken the prompt. */
  private follow(part: Part): void {
    if (part.type === "step-start") this.keeper.phase = "answered";
    if (part.type === "step-finish") this.keeper.phase = "between";
  }

  private hearPartGone(message: string, part: string): Item[] {
    this.reportedParts.delete(part);
    this.unsettled.delete(part);
    this.steps.change(message);
    return [{ kind: "part.gone", message, part }];
  }

  /** The parts of a finished message that were broken off. */
  private settle(message: string): Item[] {
    const left = [...this.unsettled.values()].filter((part) => part.messageID === message);
    return left.flatMap((part) => {
      this.unsettled.delete(part.id);
      this.reportedParts.add(part.id);
      return translate.part(part, this.position(part)) ?? [];
    });
  }

  private position(part: Part): number {
    const known = this.positions.get(part.messageID) ?? [];
    this.positions.set(part.messageID, known);
    const at = known.indexOf(part.id);
    if (at >= 0) return at;
    this.steps.change(part.messageID);
    return known.push(part.id) - 1;
  }

  private isReported(part: Part): boolean {
    return this.reportedParts.has(part.id) || part.messageID <= this.record.reported;
  }

  /** The messages and parts of a call that OpenCode stores: what other plugins add is none of a step's. */
  own(entries: readonly Entry[], milliseconds: number): Promise<Entry[]> {
    const { record, steps } = this;
    const isReported = this.isContinued(entries) ? (id: string) => id <= record.reported : () => false;
    const context = {
      id: this.id,
      heard: this.heard,
      listed: steps.messages,
      isChanged: (id: string) => steps.isChanged(id),
      isReported,
      isReminder: (part: Part, { info }: Entry) => !translate.isCarrying(part) || this.isEphemeral(part, info),
      constant: record.foreign,
      store: (foreign: readonly string[]) => record.note({ foreign }),
    };
    return this.foreign.without(context, entries, milliseconds);
  }

  /** Whether these are the first messages of this life, and those of the life before without anything among them. */
  private isContinued(entries: readonly Entry[]): boolean {
    if (this.steps.newest !== "") return false;
    const others = new Set(this.record.foreign);
    return this.steps.isContinued(entries.map(({ info }) => info.id).filter((id) => !others.has(id)));
  }

  /** The next step: what has not been reported of the listed messages, and the list as the difference to the last. */
  open(
    step: string,
    entries: readonly Entry[],
    details: Partial<StepSeen>,
    isWhole = false,
  ): { items: Item[]; message: StepSeen } {
    const ids = entries.map(({ info }) => info.id);
    const common = isWhole ? 0 : this.steps.common(ids);
    const items: Item[] = [];
    const listed: Listed[] = [];
    for (const entry of entries.slice(common)) {
      items.push(...this.unreported(entry));
      listed.push({ message: entry.info.id, parts: this.listed(entry) });
    }
    return { items, message: this.steps.open(step, ids, listed, details, { common, isWhole }) };
  }

  private unreported(entry: Entry): Item[] {
    const { info, parts } = entry;
    const shape = JSON.stringify(translate.message(info));
    const isKnown = this.infos.get(info.id) === shape || info.id <= this.record.reported;
    const fresh = parts.filter((part) => !this.isReported(part));
    this.infos.set(info.id, shape);
    if (isKnown && fresh.length === 0) return [];
    const seen = translate.entry(entry, (part) => this.isEphemeral(part, info));
    const names = new Set(fresh.filter((part) => !this.isEphemeral(part, info)).map((part) => part.id));
    for (const part of fresh) if (names.has(part.id) && translate.isSettled(part)) this.reportedParts.add(part.id);
    return [{ ...seen, parts: (seen.parts ?? []).filter((part) => names.has(part.part)) }];
  }

  private listed({ info, parts }: Entry): string[] {
    return parts.filter((part) => translate.isCarrying(part) && !this.isEphemeral(part, info)).map((part) => part.id);
  }

  /** Whether the harness made this part for one call only: it says so in no event, under a new id each time. */
  private isEphemeral(part: Part, info: Info): boolean {
    if (part.type !== "text" || part.synthetic !== true || info.role !== "user") return false;
    return this.isFollowed && !this.isReported(part) && !this.unsettled.has(part.id);
  }

  /** The messages as the plan in hand has them. */
  serve(entries: readonly Entry[]): Entry[] {
    return apply(entries, this.plan.edits, SHAPE, (id) => this.foreign.has(id));
  }
}
