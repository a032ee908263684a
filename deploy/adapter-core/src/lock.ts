/** The lock of a file that several processes change: what one reads and writes in its turn, no other one changes. */

import { renameSync, rmSync, statSync } from "node:fs";
import { makeOwn, readOwn } from "./files.ts";
import { isAlive } from "./processes.ts";

/** Milliseconds that a turn is waited for: a harness is blocked meanwhile, and a turn takes about one. */
const LIMIT = 150;
const PAUSE = 2;
/** Milliseconds after which a lock is nobody's, whoever has the number of its process by now. */
const OLD = 10_000;

/** Do this while no other process does anything with the same file. Throws where another one has it for long. */
export function inTurn(path: string, work: () => void, limit = LIMIT): void {
  const lock = `${path}.lock`;
  const end = Date.now() + limit;
  while (!makeOwn(lock, String(process.pid))) {
    if (isLeft(lock)) takeAway(lock);
    else if (Date.now() >= end) throw new Error(`another process has had ${path} for ${limit} ms`);
    else pause();
  }
  try {
    work();
  } finally {
    rmSync(lock, { force: true });
  }
}

/** Whether the process that made a lock has ended within its turn. */
function isLeft(lock: string): boolean {
  const made = statSync(lock, { throwIfNoEntry: false });
  if (!made) return false;
  if (Date.now() - made.mtimeMs > OLD) return true;
  const pid = Number(owner(lock));
  return pid > 0 && !isAlive(pid);
}

/** Of several that see it was left one is faster. One that was made meanwhile gets its place back. */
function takeAway(lock: string): void {
  const mine = `${lock}.${process.pid}`;
  try {
    renameSync(lock, mine);
  } catch {
    return; // another one was faster
  }
  if (isLeft(mine)) rmSync(mine, { force: true });
  else renameSync(mine, lock);
}

function owner(lock: string): string {
  try {
    return readOwn(lock);
  } catch {
    return "";
  }
}

function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE);
}
