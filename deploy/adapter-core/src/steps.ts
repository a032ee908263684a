/** The message list of each model call of a session, reported as the difference to the list of the call before. */

import { compact } from "./compact.ts";
import type { Listed, StepSeen } from "./language.ts";
import type { SessionRecord } from "./record.ts";

const UNKNOWN = -1;
const FNV_OFFSET = 2166136261;
const FNV_PRIME = 16777619;

export class StepList {
  private readonly changed = new Set<string>();
  private last: string[] = [];
  /** Of each message of the last list, the digest of the list up to there. */
  private digests: number[] = [];
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

  /** A message has other parts than in the last list: it is listed again. */
  change(message: string): void {
    this.changed.add(message);
  }

  /**
   * Whether a first list begins with the messages of the last one of an earlier life: then nobody has put another one
   * among them, also where one of them is gone.
   */
  isContinued(messages: readonly string[]): boolean {
    const { count, sent, listed } = this.record;
    if (count === 0 || messages[count - 1] !== sent) return false;
    return messages.slice(0, count).reduce(digest, FNV_OFFSET) === listed;
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
   * with `isWhole` it is reported from its start, because the service does not know the last one.
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
    this.digests.length = common;
    for (const id of messages.slice(common)) this.digests.push(digest(this.digests.at(-1) ?? FNV_OFFSET, id));
    this.record.note({ sent: this.newest, count: messages.length, listed: this.digests.at(-1) ?? 0 });
    return compact(item) as StepSeen;
  }
}

/** The digest of a list of ids with one more: FNV-1a in 32 bits, with a separator behind each id. */
function digest(before: number, id: string): number {
  let found = before;
  for (let at = 0; at <= id.length; at += 1) found = Math.imul(found ^ (id.charCodeAt(at) || 0), FNV_PRIME);
  return found >>> 0;
}
