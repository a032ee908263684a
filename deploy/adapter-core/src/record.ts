/** What is kept of a session over restarts: the plan in hand, the frozen date, and how far its events were told. */

import { appendFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Edit, type Mode, type Revision, target } from "./language.ts";
import type { Log } from "./log.ts";

/** Lines after which the file is written anew. */
const MANY = 500;

interface Line {
  revision?: number;
  edits?: Edit[];
  /** The newest message whose parts have all been told. */
  told?: string;
  /** Position in the harness's event log up to which it has been told. */
  seq?: number;
  date?: string;
  mode?: Mode;
  /** The mode that the guidance in the system prompt is for. */
  guidance?: Mode;
  /** The last message of the newest step. */
  sent?: string;
}

/** One session's record: a file of lines, each of which says what has changed. */
export class SessionRecord {
  revision = 0;
  readonly edits = new Map<string, Edit>();
  told = "";
  seq = -1;
  date = "";
  mode: Mode | "" = "";
  guidance: Mode | "" = "";
  sent = "";
  /** Whether an earlier life left something. */
  isKnown = false;
  private readonly path: string;

  constructor(
    directory: string,
    session: string,
    private readonly log: Log,
  ) {
    const folder = join(directory, "sessions");
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.path = join(folder, `${session.replace(/[^\w-]/g, "_")}.jsonl`);
    this.load();
  }

  /** Take revisions that belong together: one line, so that a crash leaves all of them or none. */
  take(revisions: readonly Revision[]): void {
    const newest = revisions.at(-1);
    if (newest) this.note({ revision: newest.revision, edits: revisions.flatMap(({ edits }) => edits) });
  }

  /** What a session's system prompts say is said in its copy as well. */
  inherit({ date, mode, guidance }: SessionRecord): void {
    this.note({ ...(date && { date }), ...(mode && { mode }), ...(guidance && { guidance }) });
  }

  note(line: Line): void {
    this.fold(line);
    this.append(line);
  }

  forget(): void {
    rmSync(this.path, { force: true });
  }

  private fold(line: Line): void {
    this.isKnown = true;
    this.revision = line.revision ?? this.revision;
    this.told = line.told ?? this.told;
    this.seq = line.seq ?? this.seq;
    this.date = line.date ?? this.date;
    this.mode = line.mode ?? this.mode;
    this.guidance = line.guidance ?? this.guidance;
    this.sent = line.sent ?? this.sent;
    for (const edit of line.edits ?? []) {
      this.edits.delete(target(edit));
      if (edit.op !== "restore" && edit.op !== "withdraw") this.edits.set(target(edit), edit);
    }
  }

  private load(): void {
    try {
      const lines = readFileSync(this.path, "utf8").split("\n").slice(0, -1); // the last may not be whole
      for (const line of lines) this.fold(JSON.parse(line) as Line);
      if (lines.length > MANY) this.rewrite();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
      this.log.note("a session's plan was not read; it is fetched anew", { path: this.path, error: String(error) });
      [this.revision, this.seq, this.told] = [0, -1, ""];
      this.edits.clear();
    }
  }

  private rewrite(): void {
    const { revision, told, seq, date, sent } = this;
    const modes = { ...(this.mode && { mode: this.mode }), ...(this.guidance && { guidance: this.guidance }) };
    const whole: Line = { revision, edits: [...this.edits.values()], told, seq, date, sent, ...modes };
    writeFileSync(`${this.path}.draft`, `${JSON.stringify(whole)}\n`, { mode: 0o600 });
    renameSync(`${this.path}.draft`, this.path);
  }

  private append(line: Line): void {
    try {
      appendFileSync(this.path, `${JSON.stringify(line)}\n`, { mode: 0o600 });
    } catch (error) {
      this.log.note("a session's plan is kept in memory only", { path: this.path, error: String(error) });
    }
  }
}
