/** Copies of sessions: their reports wait until their origin is known, so that it can be reported first. */

import type { Item } from "@annals/adapter-core/language";
import type { Log } from "@annals/adapter-core/log";
import { within } from "@annals/adapter-core/timers";
import { mayBeCopy, type Origin, originOf } from "./forks.ts";
import type { BusEvent, Client } from "./harness.ts";
import type { Session } from "./session.ts";

/** Milliseconds without an event after which a copy is taken to be complete. */
const QUIET = 200;

interface WaitingReport {
  event: BusEvent;
  items: Item[];
}

export class Copies {
  private readonly waiting = new Map<string, WaitingReport[]>();
  /** What looks for the origin of a copy when that has come to rest. */
  private readonly resting = new Map<string, NodeJS.Timeout>();

  constructor(
    private readonly client: Client,
    private readonly log: Log,
    private readonly session: (id: string) => Session,
    private readonly report: (session: Session, event: BusEvent, items: Item[]) => void,
  ) {}

  /** A session has begun: if it looks like a copy, what it says waits. */
  begin(session: Session): void {
    if (session.seen && mayBeCopy(session.seen)) this.waiting.set(session.id, []);
  }

  /** Hold back an event of a copy, and look for its origin as soon as it is complete; false: it is no copy. */
  hold(session: Session, event: BusEvent, items: Item[]): boolean {
    const waiting = this.waiting.get(session.id);
    if (!waiting) return false;
    const count = waiting.push({ event, items });
    clearTimeout(this.resting.get(session.id));
    const look = () => void this.log.guarded("looking for an origin", () => this.release(session, false, count));
    this.resting.set(session.id, setTimeout(look, QUIET).unref());
    return true;
  }

  forget(session: Session): void {
    this.waiting.delete(session.id);
    clearTimeout(this.resting.get(session.id));
    this.resting.delete(session.id);
  }

  /** Read a session's description by OpenCode, and the origin of a copy, before anything of it is reported. */
  async traceBack(session: Session): Promise<void> {
    if (this.waiting.has(session.id)) return this.release(session, true);
    if (!session.seen) await this.learn(session);
    if (session.isIntroduced || session.record.isKnown || !session.seen) return;
    const origin = await this.originOf(session); // it was copied before this adapter was there
    if (!session.isIntroduced) this.descend(session, origin);
  }

  /** The session's first call is about to be reported: what was delayed comes before it, with or without an origin. */
  async settle(session: Session, milliseconds: number): Promise<void> {
    if (!this.waiting.has(session.id)) return;
    await within(milliseconds, [this.log.guarded("looking for an origin", () => this.release(session, true))]);
    const waiting = this.waiting.get(session.id);
    if (!waiting) return;
    this.log.note("the origin of a copy was not found in time", { session: session.id });
    this.forget(session);
    for (const { event, items } of waiting) this.report(session, event, items);
  }

  private async learn(session: Session): Promise<void> {
    const { data } = await this.client.session.get({ path: { id: session.id } });
    if (!data) return;
    session.seen = data;
  }

  private originOf(session: Session): Promise<Origin | undefined> {
    const hasCalled = (id: string) => this.session(id).record.isKnown;
    return session.seen ? originOf(session.seen, this.client, hasCalled) : Promise.resolve(undefined);
  }

  /** A copy goes on as its origin does. */
  private descend(session: Session, origin: Origin | undefined): void {
    session.origin = origin;
    if (origin) session.record.inherit(this.session(origin.forked_from).record);
  }

  /** Report of a copy what waits, with its origin first. Before its first turn it can wait for that. */
  private async release(session: Session, isDue: boolean, count = 0): Promise<void> {
    const waiting = this.waiting.get(session.id);
    const origin = waiting && (await this.originOf(session));
    if (!waiting || this.waiting.get(session.id) !== waiting) return; // it was reported meanwhile
    if (!isDue && (!origin || waiting.length > count)) return;
    this.forget(session);
    this.descend(session, origin);
    for (const { event, items } of waiting) {
      const completed = items.map((item) => (item.kind === "session.seen" ? { ...item, ...origin } : item));
      this.report(session, event, completed);
    }
  }
}
