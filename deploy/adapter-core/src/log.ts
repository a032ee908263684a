/** A short log of what went wrong, on disk: nothing may be printed into the harness, and nothing is swallowed. */

import { appendFileSync, mkdirSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";

const LONGEST = 1024 * 1024;
const REPEATS = 1000;

export class Log {
  private readonly path: string;
  private before = "";
  private beforeAt = 0;

  constructor(directory: string) {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    this.path = join(directory, "adapter.log");
  }

  note(what: string, details: Record<string, unknown> = {}): void {
    const told = `${what} ${JSON.stringify(details)}`;
    if (told === this.before && Date.now() - this.beforeAt < REPEATS) return;
    [this.before, this.beforeAt] = [told, Date.now()];
    try {
      this.rotate();
      appendFileSync(this.path, `${new Date().toISOString()} ${told}\n`, { mode: 0o600 });
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
