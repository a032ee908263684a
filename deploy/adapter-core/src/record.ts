/** State of a session that survives restarts: the plan in hand, the frozen date, and the position of its reports. */

import { rmSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "./files.ts";
import { type Edit, type Mode, type Revision, target } from "./language.ts";
import { append, read, replace } from "./lines.ts";
import type { Log } from "./log.ts";

/** Lines after which the file is written anew. */
const MANY = 500;
const FOLDER = "sessions";

interface Line {
  revision?: number;
  edits?: Edit[];
  /** The newest message whose parts have all been reported. */
  told?: string;
  /** Position in the harness's event log up to which it has been reported. */
  seq?: number;
  date?: string;
  mode?: Mode;
  /** The mode that the guidance in the system prompt is for. */
  guidance?: Mode;
  /** The last message of the newest step. */
  sent?: string;
  /** How many messages that step listed, and ... */
  count?: number;
  /** ... a digest of which ones: see `StepList`. */
  listed?: number;
  /** Messages of other plugins that come with each call under the same id. */
  foreign?: readonly string[];
  /** The project that it began in. */
  project?: string;
}

/** Where the record of a session is stored. */
export const recordPath = (directory: string, session: string) =>
  join(directory, FOLDER, `${session.replace(/[^\w-]/g, "_")}.jsonl`);

/** The project that the session of this record began in; empty: it is not stored. */
export const projectOf = (path: string): string =>
  read<Line>(path).values.findLast(({ project }) => project)?.project ?? "";

/** One session's record: a file of lines, each of which says what has changed. */
export class SessionRecord {
  revision = 0;
  readonly edits = new Map<string, Edit>();
  /** The newest message whose parts have all been reported. */
  reported = "";
  seq = -1;
  date = "";
  mode: Mode | "" = "";
  guidance: Mode | "" = "";
  sent = "";
  count = 0;
  /** 0: an adapter from before has stored none. */
  listed = 0;
  foreign: readonly string[] = [];
  /** Where it began: it stays there, whatever its directory is called by now. Empty: that is not stored. */
  project = "";
  /** Whether an earlier life left something. */
  isKnown = false;
  /** The file lacks a line, or has half of one. */
  private isBehind = false;
  /** No line of the file says yet where the session has begun. */
  private isUnplaced = false;
  private readonly path: string;

  constructor(
    directory: string,
    session: string,
    private readonly log: Log,
  ) {
    makeFolder(join(directory, FOLDER));
    this.path = recordPath(directory, session);
    this.load();
  }

  /** Take revisions that belong together: one line, so that a crash leaves all of them or none. */
  take(revisions: readonly Revision[]): void {
    const newest = revisions.at(-1);
    if (newest) this.note({ revision: newest.revision, edits: revisions.flatMap(({ edits }) => edits) });
  }

  /** What a session's system prompts state is stated in its copy as well. */
  inherit({ date, mode, guidance, project }: SessionRecord): void {
    const inherited = { ...(date && { date }), ...(mode && { mode }), ...(guidance && { guidance }) };
    this.note({ ...inherited, ...(project && { project }) });
  }

  note(line: Line): void {
    this.fold(line);
    this.append({ ...line, ...(this.isUnplaced && { project: this.project }) });
    this.isUnplaced = false;
  }

  /** Say where the session has begun. It is written with the first line that there is reason to write. */
  place(project: string): void {
    this.project = project;
    this.isUnplaced = true;
  }

  forget(): void {
    rmSync(this.path, { force: true });
  }

  private fold(line: Line): void {
    this.isKnown = true;
    this.revision = line.revision ?? this.revision;
    this.reported = line.told ?? this.reported;
    this.seq = line.seq ?? this.seq;
    this.date = line.date ?? this.date;
    this.mode = line.mode ?? this.mode;
    this.guidance = line.guidance ?? this.guidance;
    this.sent = line.sent ?? this.sent;
    this.count = line.count ?? this.count;
    this.listed = line.listed ?? this.listed;
    this.foreign = line.foreign ?? this.foreign;
    this.project = line.project ?? this.project;
    for (const edit of line.edits ?? []) {
      this.edits.delete(target(edit));
      if (edit.op !== "restore" && edit.op !== "withdraw") this.edits.set(target(edit), edit);
    }
  }

  private load(): void {
    try {
      const { values, bad, hasGap, isEnded } = read<Line>(this.path);
      for (const line of values) this.fold(line);
      if (bad > 0) this.mend(bad, hasGap);
      if (bad > 0 || !isEnded || values.length > MANY) this.save(() => replace(this.path, [this.whole()]));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
      this.log.note("a session's plan was not read; it is fetched anew", { path: this.path, error: String(error) });
    }
  }

  /** A line that was lost may have had a revision: the last one is asked for again anyway, one before it never is. */
  private mend(lines: number, hasGap: boolean): void {
    this.log.note("lines of a session's record were cut off, and are passed over", { path: this.path, lines });
    if (hasGap) this.clear();
  }

  /** The service knows less of the plan than is in hand, since an older copy of its log was put back: all of it is void. */
  reset(): void {
    this.clear();
    this.save(() => replace(this.path, [this.whole()]));
  }

  private clear(): void {
    this.revision = 0;
    this.edits.clear();
  }

  private whole(): Line {
    const { revision, reported, seq, date, sent, count, listed, foreign } = this;
    const modes = { ...(this.mode && { mode: this.mode }), ...(this.guidance && { guidance: this.guidance }) };
    return {
      revision,
      edits: [...this.edits.values()],
      told: reported,
      seq,
      date,
      sent,
      count,
      listed,
      ...(foreign.length > 0 && { foreign }),
      ...modes,
      ...(this.project && { project: this.project }),
    };
  }

  /** A line that is missing between two others would be missed for ever: after a failure all of it is written. */
  private append(line: Line): void {
    this.save(() => (this.isBehind ? replace(this.path, [this.whole()]) : append(this.path, [line])));
  }

  private save(work: () => void): void {
    try {
      work();
      this.isBehind = false;
    } catch (error) {
      this.isBehind = true;
      this.log.note("a session's plan could not be stored and is in memory only", {
        path: this.path,
        error: String(error),
      });
    }
  }
}
