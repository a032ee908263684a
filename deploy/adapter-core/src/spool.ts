/** The spool: what the broker cannot take now is on disk, in one file of this process. */

import { readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "./files.ts";
import { append, read, replace } from "./lines.ts";
import type { Log } from "./log.ts";
import { isAlive } from "./processes.ts";
import { unreferenced } from "./timers.ts";

/** Milliseconds until a disk that took nothing is tried again: at first, and at most. */
const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 60_000;

/** A message that is to be published, with the id that makes a second copy harmless. */
export interface InboundMessage {
  subject: string;
  id: string;
  data: string;
  /** Long bodies that it refers to: they are stored before it leaves. */
  bodies?: Record<string, string>;
}

/** One that has not been confirmed; `isSpooled` once it is in the spool. */
export interface Unconfirmed {
  message: InboundMessage;
  isSpooled: boolean;
}

export class Spool {
  private readonly folder: string;
  private readonly file: string;
  /** Files of earlier lives, until this one's file holds what they do. */
  private left: string[] = [];
  private isThere = false;
  /** The file's last line may have been cut off. */
  private isTorn = false;
  private isPaused = false;
  private pause = FIRST_PAUSE;

  /** `waiting`: all that is to be stored, in order. */
  constructor(
    directory: string,
    private readonly log: Log,
    private readonly waiting: () => Unconfirmed[],
  ) {
    this.folder = join(directory, "spool");
    makeFolder(this.folder);
    this.file = join(this.folder, `${process.pid}-${crypto.randomUUID().slice(0, 8)}.jsonl`);
  }

  /** Have on disk all that waits: behind what the file holds, what it does not. While the disk takes nothing: later. */
  keep(): void {
    if (this.isPaused) return;
    if (this.isThere) this.add();
    else this.write();
  }

  /** Make the file hold just what waits. */
  write(): void {
    const all = this.waiting();
    this.onDisk(all, () => {
      replace(this.file, messagesOf(all));
      this.isThere = true;
      this.isTorn = false;
      this.forgetLeft();
    });
  }

  /** Nothing waits any more. */
  clear(): void {
    if (this.isThere) this.remove(this.file);
    this.isThere = false;
    this.forgetLeft();
  }

  /** What earlier lives of this adapter left behind. A line that cannot be read was cut off: it costs itself alone. */
  adopted(): InboundMessage[] {
    return readdirSync(this.folder)
      .sort()
      .filter((name) => name.includes(".jsonl") && !name.endsWith(".draft") && isAbandoned(name))
      .flatMap((name) => this.adopt(name));
  }

  private adopt(name: string): InboundMessage[] {
    const mine = join(this.folder, `${name}.${process.pid}`);
    try {
      renameSync(join(this.folder, name), mine); // of two that start at once one is faster
      const { values, bad } = read<InboundMessage>(mine);
      const messages = values.filter(isMessage);
      const lines = bad + values.length - messages.length;
      if (lines > 0) this.log.note("lines of a spool file were cut off, and are passed over", { name, lines });
      this.left.push(mine);
      return messages;
    } catch (error) {
      this.log.note("a spool file was not read", { name, error: String(error) });
      return [];
    }
  }

  private add(): void {
    const fresh = this.waiting().filter(({ isSpooled }) => !isSpooled);
    if (fresh.length === 0) return;
    this.onDisk(fresh, () => {
      const { isTorn } = this;
      this.isTorn = true; // until all of it is there
      append(this.file, messagesOf(fresh), isTorn);
      this.isTorn = false;
    });
  }

  private forgetLeft(): void {
    for (const file of this.left.splice(0)) this.remove(file);
  }

  /** A file that stays is found by the next life of this adapter: the ids make what is sent again harmless. */
  private remove(file: string): void {
    try {
      rmSync(file, { force: true });
    } catch (error) {
      const what = "a spool file was not removed; what is in it is sent once more";
      this.log.note(what, { file, error: String(error) });
    }
  }

  private onDisk(fresh: Unconfirmed[], work: () => void): void {
    try {
      work();
      for (const one of fresh) one.isSpooled = true;
      this.pause = FIRST_PAUSE;
    } catch (error) {
      this.log.note("the spool cannot be written; what waits is in memory only", { error: String(error) });
      this.rest();
    }
  }

  /** Each attempt writes all that waits and blocks the harness meanwhile: a full disk is tried ever more seldom. */
  private rest(): void {
    if (this.isPaused) return;
    this.isPaused = true;
    void unreferenced(this.pause).then(() => {
      this.isPaused = false;
      if (this.waiting().length > 0) this.keep();
    });
    this.pause = Math.min(this.pause * 2, LONGEST_PAUSE);
  }
}

const messagesOf = (entries: Unconfirmed[]) => entries.map(({ message }) => message);

/** Whether a line is a message: anything else could not be sent, and would stop what is done with all of them. */
function isMessage({ subject, id, data, bodies = {} }: Partial<InboundMessage>): boolean {
  const texts = [subject, id, data, ...Object.values(bodies ?? {})];
  return texts.every((text) => typeof text === "string");
}

/** The process that writes a spool file, or that was about to take it over. */
const ownerOf = (name: string) => Number.parseInt(name.includes(".jsonl.") ? (name.split(".").at(-1) ?? "") : name, 10);

/** Whether no process writes this spool file any more. */
export const isAbandoned = (name: string) => !isAlive(ownerOf(name));
