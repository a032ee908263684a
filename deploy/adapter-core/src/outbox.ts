/** The outbox: what is reported leaves in order; what the broker cannot take now waits on disk, in the spool. */

import type { Broker } from "./broker.ts";
import type { Erasures, Queue } from "./erasures.ts";
import type { Log } from "./log.ts";
import { type InboundMessage, Spool, type Unconfirmed } from "./spool.ts";
import { unreferenced } from "./timers.ts";

/** Messages under way at once. */
const WINDOW = 64;
const RETRY = 200;
/** Of so many rounds in which the broker takes nothing, one tries another message than the oldest. */
const OTHERS = 10;

interface Waiting extends Unconfirmed {
  state: "waiting" | "sent" | "settled";
}

export class Outbox {
  private readonly queue: Waiting[] = [];
  /** Index of the oldest that has not been sent. */
  private next = 0;
  private underWay = 0;
  private isPumping = false;
  /** Something has come, or has ended, since the pump last looked. */
  private isWanted = false;
  private isResting = false;
  /** What waits is from before this connection, and nobody has answered yet what was erased meanwhile. */
  private isGated = false;
  private connections = 0;
  /** Rounds in a row in which the broker took nothing. */
  private failures = 0;
  private readonly spool: Spool;
  private emptied: (() => void)[] = [];

  constructor(
    private readonly broker: Broker,
    private readonly log: Log,
    directory: string,
    private readonly erasures?: Pick<Erasures, "settle">,
  ) {
    this.spool = new Spool(directory, log, () => this.queue.filter((one) => one.state !== "settled"));
    for (const message of this.spool.adopted()) this.queue.push({ message, state: "waiting", isSpooled: false });
    if (this.queue.length > 0) this.spool.write();
    else this.spool.clear();
    broker.onConnected(() => void this.resume());
  }

  /** Send what waits, without what was erased while there was no connection. */
  private async resume(): Promise<void> {
    const connection = ++this.connections;
    this.isGated = this.erasures !== undefined && this.queue.length > 0;
    const settled = this.log.guarded("doing erasures", () => this.erasures?.settle(this.stored()) ?? true);
    void this.pump();
    if (!(await settled) || connection !== this.connections) return;
    this.isGated = false;
    void this.pump();
  }

  private stored(): Queue {
    const waiting = this.queue.filter(({ state }) => state !== "settled");
    return {
      messages: () => waiting.map(({ message }) => message),
      change: (change) => {
        for (const one of waiting) {
          const message = change(one.message);
          if (message) one.message = message;
          else one.state = "settled";
        }
        this.clear();
        if (this.queue.length > 0) this.spool.write();
      },
    };
  }

  get length(): number {
    return this.queue.length;
  }

  put(message: InboundMessage): void {
    this.queue.push({ message, state: "waiting", isSpooled: false });
    if (!this.broker.connected || this.isGated || this.failures > 0) this.spool.keep();
    void this.pump();
  }

  /** Resolves when everything is with the broker. */
  flushed(): Promise<void> {
    return this.queue.length === 0 ? Promise.resolve() : new Promise((resolve) => this.emptied.push(resolve));
  }

  /** Have all that waits on disk, for the next life of this adapter. */
  close(): void {
    if (this.queue.length > 0) this.spool.write();
  }

  private async pump(): Promise<void> {
    this.isWanted = true;
    if (this.isPumping) return;
    this.isPumping = true;
    try {
      while (this.isWanted) {
        this.isWanted = false;
        await this.sendAll();
      }
    } finally {
      this.isPumping = false;
    }
  }

  private async sendAll(): Promise<void> {
    while (this.broker.connected && !this.isGated && !this.isResting && this.underWay < this.window) {
      const next = this.following();
      if (!next) return;
      const { message } = next;
      if (message.bodies && !(await this.keepBodies(message))) return;
      if (this.isGated) return;
      if (next.message !== message || next.state !== "waiting") continue; // it was erased meanwhile, or masked
      next.state = "sent";
      this.underWay += 1;
      void this.send(next);
    }
  }

  /** After a failure one message goes ahead: only when the broker takes it the others follow. */
  private get window(): number {
    return this.failures > 0 ? 1 : WINDOW;
  }

  /** The oldest that waits; at times, after many failures, one behind it: one that is never taken stops no other. */
  private following(): Waiting | undefined {
    while (this.queue[this.next] && this.queue[this.next]?.state !== "waiting") this.next += 1;
    if (this.failures === 0 || this.failures % OTHERS !== 0) return this.queue[this.next];
    const oldest = this.queue.slice(this.next, this.next + WINDOW).filter(({ state }) => state === "waiting");
    return oldest[(this.failures / OTHERS) % oldest.length];
  }

  private async keepBodies(message: InboundMessage): Promise<boolean> {
    try {
      for (const [reference, text] of Object.entries(message.bodies ?? {})) await this.broker.keep(reference, text);
      return true;
    } catch (error) {
      this.failed("a body could not be stored", message, error);
      return false;
    }
  }

  private async send(entry: Waiting): Promise<void> {
    const { subject, data, id } = entry.message;
    try {
      await this.broker.publish(subject, data, id);
      entry.state = "settled";
      this.failures = 0;
    } catch (error) {
      if (entry.state === "sent") entry.state = "waiting"; // the ids make what has arrived after all harmless
      this.next = Math.max(0, Math.min(this.next, this.queue.indexOf(entry)));
      this.failed("not published", entry.message, error);
    }
    this.underWay -= 1;
    this.clear();
    void this.pump();
  }

  /** Store what waits, and try again in a while. What fails meanwhile belongs to the same round, stored already. */
  private failed(what: string, { id }: InboundMessage, error: unknown): void {
    this.spool.keep();
    if (this.isResting) return;
    this.log.note(what, { id, waiting: this.queue.length, error: String(error) });
    this.failures += 1;
    this.isResting = true;
    void unreferenced(RETRY).then(() => {
      this.isResting = false;
      void this.pump();
    });
  }

  private clear(): void {
    const settled = this.queue.findIndex((one) => one.state !== "settled");
    const gone = settled < 0 ? this.queue.length : settled;
    this.queue.splice(0, gone);
    this.next = Math.max(0, this.next - gone);
    if (this.queue.length > 0) return;
    this.spool.clear();
    for (const resolve of this.emptied.splice(0)) resolve();
  }
}
