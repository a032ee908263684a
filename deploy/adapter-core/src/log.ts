/** A short log of what went wrong, on disk: nothing may be printed into the harness, and nothing is swallowed. */

import { renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { appendOwn, makeFolder } from "./files.ts";

const LONGEST = 1024 * 1024;
const REPEATS = 1000;

export class Log {
  private readonly path: string;
  private before = "";
  private beforeAt = 0;

  constructor(directory: string) {
    makeFolder(directory);
    this.path = join(directory, "adapter.log");
  }

  note(what: string, details: Record<string, unknown> = {}): void {
    const line = `${what} ${JSON.stringify(details)}`;
    if (line === this.before && Date.now() - this.beforeAt < REPEATS) return;
    [this.before, this.beforeAt] = [line, Date.now()];
    try {
      this.rotate();
      appendOwn(this.path, `${new Date().toISOString()} ${line}\n`);
    } catch {
      // a full or vanished disk must not end a session
    }
  }

  private rotate(): void {
    const size = statSync(this.path, { throwIfNoEntry: false })?.size ?? 0;
    if (size > LONGEST) renameSync(this.path, `${this.path}.old`);
  }

  /** Run something that may fail; a failure is noted, and the harness never sees it. */
  async guarded<T>(where: string, work: () => Promise<T> | T): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      this.note(`failed in ${where}`, {
        error: String(error),
        at: firstFrame(error),
      });
      return undefined;
    }
  }
}

const firstFrame = (error: unknown) => (error instanceof Error ? (error.stack?.split("\n")[1]?.trim() ?? "") : "");
