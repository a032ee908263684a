/** OpenCode's own event log, read for one session at a time. */

import type { BusEvent, Client, Info } from "./harness.ts";

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
export interface Told {
  events: BusEvent[];
  seq: number;
}

export class History {
  private others: Set<string> | undefined;

  constructor(private readonly client: Client) {}

  async after(session: string, seq: number): Promise<Told> {
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

function subjectOf({ type, properties = {} }: BusEvent): string {
  if (type === "message.part.updated") return `part:${properties.part?.id}`;
  if (type === "message.updated") return `message:${(properties.info as Info | undefined)?.id}`;
  return type === "session.updated" ? "session" : "";
}
