/** OpenCode's own event log, read for one session at a time. */

import type { Item } from "@annals/adapter-core/language";
import type { BusEvent, Client } from "./harness.ts";
import { subjectOf } from "./heard.ts";
import type { Session } from "./session.ts";

/** The log gives all events of each session that a question does not name: behind this position there are none. */
const NOTHING = 1_000_000_000;
const MOST_SESSIONS = 100_000;
const DURABLE = /^(session|message)\..*\.\d+$/;

interface Recorded {
  id?: string;
  aggregate_id?: string;
  seq?: number;
  type?: string;
  data?: BusEvent["properties"];
}

/** What the log has of a session behind a position, and the position that it reaches. */
interface Behind {
  events: BusEvent[];
  seq: number;
}

export class History {
  private others: Set<string> | undefined;

  constructor(private readonly client: Client) {}

  /** Report what the log has and nobody reported: from before this adapter, from while it was away, or missed. */
  fill(session: Session, report: (event: BusEvent, items: Item[]) => void): Promise<void> {
    const compare = () => this.compare(session, report);
    session.compared = session.compared.then(compare, compare); // one after the other: a turn may end twice
    return session.compared;
  }

  private async compare(session: Session, report: (event: BusEvent, items: Item[]) => void): Promise<void> {
    const { heard, record } = session;
    const asked = heard.count;
    const { events, seq } = await this.after(session.id, record.seq);
    const unheard = events.filter((event) => !heard.isNewest(event));
    const isOvertaken = unheard.some((event) => heard.isSince(event, asked));
    for (const event of unheard) {
      if (heard.isSince(event, asked)) continue;
      const { id: _, ...anew } = event; // it may have been reported, and then what it had replaced
      report(heard.has(event) ? anew : event, session.hear(event, true));
    }
    session.isFollowed = true;
    if (seq > record.seq && !isOvertaken) record.note({ seq, told: session.newest || record.reported });
  }

  private async after(session: string, seq: number): Promise<Behind> {
    this.others ??= await this.list();
    const excluded = [...this.others].filter((other) => other !== session).map((other) => [other, NOTHING]);
    const body = { ...Object.fromEntries(excluded), [session]: Math.max(0, seq) };
    const reply = await this.client._client?.post({ url: "/sync/history", body });
    const recorded = (reply?.data ?? []) as Recorded[];
    for (const one of recorded) if (one.aggregate_id) this.others.add(one.aggregate_id);
    const own = recorded.filter((one) => one.aggregate_id === session && DURABLE.test(one.type ?? ""));
    return { events: newest(own), seq: Math.max(seq, ...own.map((one) => one.seq ?? -1)) };
  }

  private async list(): Promise<Set<string>> {
    const url = "/experimental/session";
    const asked = [false, true].map((archived) =>
      this.client._client?.get({ url, query: { limit: MOST_SESSIONS, archived } }),
    );
    const replies = await Promise.all(asked);
    return new Set(replies.flatMap((reply) => ((reply?.data ?? []) as { id: string }[]).map(({ id }) => id)));
  }
}

/** The events in the hook's shape, without those that later ones replace. */
function newest(recorded: readonly Recorded[]): BusEvent[] {
  const events = recorded.map(({ id, type = "", data = {} }): BusEvent => {
    return { ...(id ? { id } : {}), type: type.replace(/\.\d+$/, ""), properties: data };
  });
  const last = new Map(events.map((event, index) => [subjectOf(event) || `${index}`, index]));
  return events.filter((event, index) => last.get(subjectOf(event) || `${index}`) === index);
}
