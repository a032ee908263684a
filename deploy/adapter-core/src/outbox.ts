/** The outbox: what is reported leaves in order; what the broker cannot take now waits on disk, in the spool. */

import { appendFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Broker } from "./broker.ts";
import type { Log } from "./log.ts";
import { unreferenced } from "./timers.ts";

/** Messages under way at once. */
const WINDOW = 64;
const RETRY = 200;
const LINE = "\n";

/** A message that is to be published, with the id that makes a second copy harmless. */
export interface InboundMessage {
  subject: string;
  id: string;
  data: string;
  /** Long bodies that it refers to: they are kept before it leaves. */
  bodies?: Record<string, string>;
}

interface Waiting {
  message: InboundMessage;
  state: "waiting" | "sent" | "settled";
  isKept: boolean;
}

export class Outbox {
  private readonly queue: Waiting[] = [];
  /** Index of the oldest that has not been sent. */
  private next = 0;
  private readonly file: string;
  private underWay = 0;
  private isPumping = false;
  private isSpooled = false;
  private emptied: (() => void)[] = [];

  constructor(
    private readonly broker: Broker,
    private readonly log: Log,
    directory: string,
  ) {
    const folder = join(directory, "spool");
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.file = join(folder, `${process.pid}-${crypto.randomUUID().slice(0, 8)}.jsonl`);
    const left = adopted(folder, log);
    for (const message of left.messages) this.queue.push({ message, state: "waiting", isKept: false });
    if (this.queue.length > 0) this.write();
    for (const file of left.files) rmSync(file, { force: true });
    broker.onConnected(() => void this.pump());
  }

  get length(): number {
    return this.queue.length;
  }

  put(message: InboundMessage): void {
    this.queue.push({ message, state: "waiting", isKept: false });
    if (this.broker.connected) void this.pump();
    else this.keep();
  }

  /** Resolves when everything is with the broker. */
  flushed(): Promise<void> {
    return this.queue.length === 0 ? Promise.resolve() : new Promise((resolve) => this.emptied.push(resolve));
  }

  /** Have all that waits on disk, for the next life of this adapter. */
  close(): void {
    if (this.queue.length > 0) this.write();
  }

  private async pump(): Promise<void> {
    if (this.isPumping) return;
    this.isPumping = true;
    try {
      await this.sendAll();
    } finally {
      this.isPumping = false;
    }
  }

  private async sendAll(): Promise<void> {
    for (;;) {
      while (this.queue[this.next] && this.queue[this.next]?.state !== "waiting") this.next += 1;
      const next = this.queue[this.next];
      if (!next || !this.broker.connected || this.underWay >= WINDOW) return;
      if (next.message.bodies && !(await this.keepBodies(next.message))) return;
      next.state = "sent";
      this.underWay += 1;
      void this.send(next);
    }
  }

  private async keepBodies(message: InboundMessage): Promise<boolean> {
    try {
      for (const [reference, text] of Object.entries(message.bodies ?? {})) await this.broker.keep(reference, text);
      return true;
    } catch (error) {
      this.log.note("a body could not be kept", { id: message.id, error: String(error) });
      this.keep();
      void unreferenced(RETRY).then(() => this.pump());
      return false;
    }
  }

  private async send(entry: Waiting): Promise<void> {
    const { subject, data, id } = entry.message;
    try {
      await this.broker.publish(subject, data, id);
      entry.state = "settled";
    } catch (error) {
      this.log.note("not published", { id, error: String(error) });
      entry.state = "waiting"; // the ids make what has arrived after all harmless
      this.next = Math.min(this.next, this.queue.indexOf(entry));
      this.keep();
      await unreferenced(RETRY);
    }
    this.underWay -= 1;
    this.clear();
    void this.pump();
  }

  private clear(): void {
    const settled = this.queue.findIndex((one) => one.state !== "settled");
    const gone = settled < 0 ? this.queue.length : settled;
    this.queue.splice(0, gone);
    this.next = Math.max(0, this.next - gone);
    if (this.queue.length > 0) return;
    if (this.isSpooled) {
      rmSync(this.file, { force: true });
      this.isSpooled = false;
    }
    for (const resolve of this.emptied.splice(0)) resolve();
  }

  /** Have on disk all that waits: behind what the file holds, what was put while the broker still seemed to be there. */
  private keep(): void {
    if (!this.isSpooled) {
      this.write();
      return;
    }
    const fresh = this.open().filter((one) => !one.isKept);
    this.onDisk(fresh, () => appendFileSync(this.file, linesOf(fresh), { mode: 0o600 }));
  }

  /** Make the file hold just what waits. */
  private write(): void {
    const open = this.open();
    this.onDisk(open, () => {
      writeFileSync(`${this.file}.draft`, linesOf(open), { mode: 0o600 });
      renameSync(`${this.file}.draft`, this.file);
      this.isSpooled = true;
    });
  }

  private open(): Waiting[] {
    return this.queue.filter((one) => one.state !== "settled");
  }

  private onDisk(kept: Waiting[], work: () => void): void {
    try {
      work();
      for (const one of kept) one.isKept = true;
    } catch (error) {
      this.log.note("the spool cannot be written; what waits is in memory only", { error: String(error) });
    }
  }
}

const linesOf = (entries: Waiting[]) => entries.map((one) => JSON.stringify(one.message) + LINE).join("");

/** What earlier lives of this adapter left behind; a line that was not written to its end counts for nothing. */
function adopted(folder: string, log: Log): { messages: InboundMessage[]; files: string[] } {
  const files: string[] = [];
  const messages: InboundMessage[] = [];
  for (const name of readdirSync(folder).sort()) {
    if (!name.includes(".jsonl") || name.endsWith(".draft") || isAlive(ownerOf(name))) continue;
    const mine = join(folder, `${name}.${process.pid}`);
    try {
      renameSync(join(folder, name), mine); // of two that start at once one is faster
      const lines = readFileSync(mine, "utf8").split(LINE).slice(0, -1);
      messages.push(...lines.map((line) => JSON.parse(line) as InboundMessage));
      files.push(mine);
    } catch (error) {
      log.note("a spool file was not read", { name, error: String(error) });
    }
  }
  return { messages, files };
}

/** The process that writes a spool file, or that was about to take it over. */
const ownerOf = (name: string) => Number.parseInt(name.includes(".jsonl.") ? (name.split(".").at(-1) ?? "") : name, 10);

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
