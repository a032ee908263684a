/** What other plugins put into a model call: messages and parts that OpenCode does not store and no step may list. */

import type { Log } from "@annals/adapter-core/log";
import { within } from "@annals/adapter-core/timers";
import type { Client, Entry, Part } from "./harness.ts";
import type { Heard } from "./heard.ts";

/** The most messages that OpenCode is asked for one by one; of more than these it is asked for all. */
const FEW = 8;
/** Answers that say that there is no such message; an id of another form than its own is a bad request to it. */
const NONE = new Set([400, 404]);

/** What is known of the session that a call belongs to. */
export interface Context {
  readonly id: string;
  readonly heard: Pick<Heard, "hasMessage" | "hasPart">;
  /** The messages of the last step, all of them stored ... */
  readonly listed: readonly string[];
  /** ... and which of them have other parts now. */
  isChanged(message: string): boolean;
  /** Whether an earlier life of this adapter has reported a message with all its parts. */
  isReported(message: string): boolean;
  /** Whether OpenCode makes such a part for one call only, or sends nothing for it. */
  isReminder(part: Part, entry: Entry): boolean;
  /** Foreign messages that come with each call, stored across restarts. */
  readonly constant: readonly string[];
  store(constant: readonly string[]): void;
}

export class Foreign {
  /** Those of the newest call. */
  private messages: ReadonlySet<string> = new Set();
  /** What OpenCode has reported as stored: messages without an event, and parts. */
  private readonly stored = new Set<string>();

  constructor(
    private readonly client: Pick<Client, "session">,
    private readonly log: Log,
  ) {}

  /** Whether another plugin has put this message into the newest call. */
  has(message: string): boolean {
    return this.messages.has(message);
  }

  /**
   * The messages of a call that OpenCode stores, with those of their parts that it stores. It is asked only for what no
   * event has reported. What it does not answer within so many milliseconds counts as its own.
   */
  async without(context: Context, entries: readonly Entry[], milliseconds: number): Promise<Entry[]> {
    const known = new Set([...context.constant, ...this.messages]);
    const suspects = this.suspects(context, entries, known);
    const found = new Map<string, Entry | undefined>();
    const asked = suspects.filter(({ info }) => !known.has(info.id));
    if (asked.length > 0) {
      await within(milliseconds, [this.log.guarded("looking for messages", () => this.ask(context.id, asked, found))]);
    }
    const messages = new Set(suspects.map(({ info }) => info.id).filter((id) => known.has(id) || isMissing(found, id)));
    const parts = new Set(suspects.flatMap((suspect) => this.foreignParts(context, suspect, found)));
    const constant = [...messages].filter((id) => this.messages.has(id) && !context.constant.includes(id));
    if (constant.length > 0) context.store([...context.constant, ...constant]);
    this.messages = messages;
    const own = messages.size === 0 ? [...entries] : entries.filter(({ info }) => !messages.has(info.id));
    return parts.size === 0 ? own : own.map((entry) => withoutParts(entry, parts));
  }

  /** What no event reported, among the messages that the step is to list. */
  private suspects(context: Context, entries: readonly Entry[], known: ReadonlySet<string>): Entry[] {
    const { listed } = context;
    const suspects: Entry[] = [];
    let at = 0;
    let isListed = true;
    let others: ReadonlySet<string> | undefined;
    for (const entry of entries) {
      const { id } = entry.info;
      if (isListed && id === listed[at] && !context.isChanged(id)) {
        at += 1;
      } else if (known.has(id) && !context.heard.hasMessage(id)) {
        suspects.push(entry);
      } else {
        isListed = false;
        if (at < listed.length) others ??= new Set(listed);
        if (this.isUnheard(context, entry, others?.has(id) ?? false)) suspects.push(entry);
      }
    }
    return suspects;
  }

  private isUnheard(context: Context, entry: Entry, isListed: boolean): boolean {
    const { id } = entry.info;
    if (context.isReported(id)) return false;
    const isStored = isListed || context.heard.hasMessage(id) || this.stored.has(id);
    return !isStored || entry.parts.some((part) => this.isSuspect(context, part, entry));
  }

  /** The parts of a message that OpenCode stores which it does not store. */
  private foreignParts(context: Context, suspect: Entry, found: ReadonlyMap<string, Entry | undefined>): string[] {
    const stored = found.get(suspect.info.id);
    if (!stored) return [];
    this.stored.add(stored.info.id);
    for (const part of stored.parts) this.stored.add(part.id);
    return suspect.parts.map(({ id }) => id).filter((id) => !context.heard.hasPart(id) && !this.stored.has(id));
  }

  private isSuspect(context: Context, part: Part, entry: Entry): boolean {
    const isStored = context.heard.hasPart(part.id) || this.stored.has(part.id);
    return !isStored && !context.isReminder(part, entry);
  }

  /** What OpenCode stores under these ids; nothing is entered for what it did not answer. */
  private async ask(session: string, suspects: readonly Entry[], found: Map<string, Entry | undefined>): Promise<void> {
    if (suspects.length > FEW) {
      const { data } = await this.client.session.messages({ path: { id: session } });
      if (!data) return;
      const stored = new Map(data.map((entry) => [entry.info.id, entry]));
      for (const { info } of suspects) found.set(info.id, stored.get(info.id));
      return;
    }
    await Promise.all(
      suspects.map(async ({ info }) => {
        const { data, response } = await this.client.session.message({ path: { id: session, messageID: info.id } });
        if (data || NONE.has(response?.status ?? 0)) found.set(info.id, data);
      }),
    );
  }
}

const isMissing = (found: ReadonlyMap<string, Entry | undefined>, id: string) => found.has(id) && !found.get(id);

function withoutParts(entry: Entry, parts: ReadonlySet<string>): Entry {
  const left = entry.parts.filter(({ id }) => !parts.has(id));
  return left.length === entry.parts.length ? entry : { info: entry.info, parts: left };
}
