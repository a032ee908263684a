/** The message list of each model call of a session, told as the difference to the list of the call before. */

import { compact } from "./compact.ts";
import type { Listed, StepSeen } from "./language.ts";
import type { SessionRecord } from "./record.ts";

const UNKNOWN = -1;

export class StepList {
  private readonly changed = new Set<string>();
  private last: string[] = [];
  /** The last message of what the newest list and the one before it begin with. */
  private sent: string | undefined;
  private step = "";

  constructor(private readonly record: SessionRecord) {}

  /** The newest message of the last list. */
  get newest(): string {
    return this.last.at(-1) ?? "";
  }

  /** The messages of the last list. */
  get messages(): readonly string[] {
    return this.last;
  }

  /** Whether a message is to be listed again, at any position. */
  isChanged(message: string): boolean {
    return this.changed.has(message);
  }

  /** A message has other parts than the last list said: it is listed again. */
  change(message: string): void {
    this.changed.add(message);
  }

  /**
   * Whether a first list begins with as many messages as the last one of an earlier life had, which ends where that one
   * ended: then nobody has put another one among them.
   */
  isContinued(messages: readonly string[]): boolean {
    const { count, sent } = this.record;
    return count > 0 && messages.indexOf(sent) === count - 1;
  }

  /** How many messages this list and the last one begin with. */
  common(messages: readonly string[]): number {
    let count = 0;
    while (count < messages.length && count < this.last.length) {
      const id = messages[count];
      if (id !== this.last[count] || id === undefined || this.changed.has(id)) break;
      count += 1;
    }
    return count;
  }

  /**
   * The next step. Its list begins with the first `common` messages of the last one, and goes on with what is `listed`;
   * with `isWhole` it is told from its start, because the service does not know the last one.
   */
  open(
    step: string,
    messages: readonly string[],
    listed: Listed[],
    details: Partial<StepSeen>,
    { common, isWhole }: { common: number; isWhole: boolean },
  ): StepSeen {
    const after = common > 0 ? this.last[common - 1] : undefined;
    if (!isWhole) this.sent = this.last.length > 0 ? after : this.record.sent || undefined;
    const item = {
      kind: "step.seen" as const,
      ...details,
      step,
      previous: this.step || undefined,
      after,
      messages: listed,
      count: messages.length,
      sent: after ? undefined : this.sent,
      served: this.step || this.record.isKnown ? this.record.revision : UNKNOWN,
    };
    this.step = step;
    this.last = [...messages];
    this.changed.clear();
    this.record.note({ sent: this.newest, count: messages.length });
    return compact(item) as StepSeen;
  }
}
