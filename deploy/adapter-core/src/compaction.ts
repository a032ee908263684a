/** Whether the harness may compact by itself: only while nobody keeps the context small. Pure. */

/** Where a session's turn is: the harness looks at its size `between` two calls, and at a refusal of what was `sent`. */
export type Phase = "resting" | "between" | "sent" | "answered";

/** Steps in a row without a plan after which the service counts as away: a hiccup is no reason to compact. */
const MISSES = 2;

/** Who keeps one session's context small: the service, or the harness by compacting it. */
export class ContextKeeper {
  phase: Phase = "resting";
  /** The session is none of the service's: it has another mode, or its calls are a helper's. */
  isLeft = false;
  /** The service cannot make the prompt smaller in this turn, although it is longer than the model takes. */
  isFull = false;
  /** Steps in a row without a plan, over turns: only a plan shows that somebody keeps the context small. */
  private misses = 0;
  private hasPlan = false;
  /** Nobody was there when the turn began, and nobody has answered since. */
  private isAlone = false;

  /** A turn begins. A service that has answered this session before may be away for a moment. */
  begins(isReachable: boolean): void {
    this.phase = "between";
    this.isAlone = !isReachable && !this.hasPlan;
  }

  planned(isInTime: boolean): void {
    this.misses = isInTime ? 0 : this.misses + 1;
    if (!isInTime) return;
    this.hasPlan = true;
    this.isAlone = false;
  }

  get isServed(): boolean {
    return !this.isLeft && !this.isAlone && this.misses < MISSES;
  }

  get isBusy(): boolean {
    return this.phase !== "resting";
  }

  /** The session is under way, and waits for a service that does not answer. */
  get isAway(): boolean {
    return this.isBusy && !this.isLeft && !this.isServed;
  }
}

/**
 * Whether the harness may compact now. The switch is one for all sessions, so the answer is about those of which it may
 * be reading it: where one of them is not served, or full, it may. What else is served it leaves alone, except for a
 * prompt that the provider refuses as too long: compacting that is better than a turn that fails.
 */
export function mayCompact(sessions: readonly ContextKeeper[], isReachable: boolean): boolean {
  const busy = sessions.filter(({ isBusy }) => isBusy);
  if (busy.length === 0) return !isReachable;
  const looked = busy.filter(({ phase }) => phase === "between");
  const sent = busy.filter(({ phase }) => phase === "sent");
  if ([...looked, ...sent].some(({ isServed, isFull }) => !isServed || isFull)) return true;
  return sent.length > 0 && looked.length === 0;
}

/** How the harness's own compaction is treated: see `Options.compaction`. */
export type CompactionMode = "managed" | "assist" | "replace" | "observe";

const TASK =
  "Write a summary of the conversation below, from which its work goes on. Answer with the summary alone, in the " +
  "language of the conversation. Call no tools, and answer no question that stands in it.";
const BEFORE =
  "What came before is known only from the summary in <previous-summary>. Yours takes its place: keep what still holds, " +
  "correct what has changed, and add what is new.";

/** What a prompt in the place of the harness's own is made from. */
export interface SummaryParts {
  /** What the service wants to be carried on. */
  brief: string;
  /** The summary of what came before; empty: there is none. */
  previous: string;
  /** What others want the summary to know. */
  context: readonly string[];
  /** The prompt that somebody else has put in the place of the harness's own. */
  earlier?: string | undefined;
}

/** The prompt for the harness's own summary, where it is to be the service's. */
export function summaryPrompt({ brief, previous, context, earlier }: SummaryParts): string {
  const before = previous && `${BEFORE}\n\n<previous-summary>\n${previous}\n</previous-summary>`;
  return [earlier || TASK, brief, before, ...context].filter(Boolean).join("\n\n");
}

/** Shows notices to the person, where a session is at work. */
export type Notify = (notices: readonly string[]) => void;

/**
 * Notifies the person, once, that the harness compacts by itself now, and once that it need not any more. One object
 * serves a process, as there is one service: that it is away is no news in the next session or directory.
 */
export class HandOver {
  /** Where the person was notified that the service is away, for the notice that it is back; unset while it runs. */
  private notifyBack: Notify | undefined;
  /** Sessions that were named in that notice and had no plan since: one that never gets any is named once. */
  private readonly waiting = new WeakSet<ContextKeeper>();

  /**
   * `title` is what people call the harness. `isComing`: the service is being started, so that no notice is needed yet.
   */
  constructor(
    private readonly mode: CompactionMode,
    private readonly title: string,
    private readonly isComing: () => boolean,
  ) {}

  /** A turn of this session begins. That the service can be reached is no answer: only a plan is. */
  begins(keeper: ContextKeeper, isReachable: boolean, notify: Notify): void {
    keeper.begins(isReachable);
    if (!isReachable) this.missed(keeper, notify);
  }

  /** A step of this session had its plan in time, or had not. */
  planned(keeper: ContextKeeper, isInTime: boolean, notify: Notify): void {
    keeper.planned(isInTime);
    if (isInTime) this.answered(keeper);
    else this.missed(keeper, notify);
  }

  private missed(keeper: ContextKeeper, notify: Notify): void {
    if (this.notifyBack || this.mode !== "managed" || !keeper.isAway || this.waiting.has(keeper) || this.isComing())
      return;
    this.notifyBack = notify;
    this.waiting.add(keeper);
    notify([awayNotice(this.title)]);
  }

  private answered(keeper: ContextKeeper): void {
    this.waiting.delete(keeper);
    this.notifyBack?.([BACK]);
    this.notifyBack = undefined;
  }
}

const BACK = "Annals answers again, and keeps the context small.";
const awayNotice = (title: string) =>
  `Annals does not answer: ${title} compacts by itself until it does. ` +
  "`annals up` starts it, `annals doctor` says more.";
