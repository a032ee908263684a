/** Starts the installation of Annals on this machine, where setup has recorded how. */

import { spawn } from "node:child_process";
import { closeSync, existsSync } from "node:fs";
import { join } from "node:path";
import { openEmpty } from "./files.ts";
import type { Log } from "./log.ts";

export interface Installation {
  command: string[];
  /** Its data directory. */
  data?: string;
}

/** What an installation writes down of itself in its data directory, and takes away when it is ended. */
const RECORD = "house.json";

/** Whether it has died, or runs: one that somebody has ended, as with `annals down`, has left nothing of itself. */
export function hasDied({ data }: Installation): boolean {
  return data !== undefined && existsSync(join(data, RECORD));
}

/**
 * Start it and leave it alone; resolves with whether it answers. The command itself sees to it that there is never a
 * second one, and waits until the installation answers. Its output goes into this file.
 */
export async function launch({ command, data }: Installation, output: string, log: Log): Promise<boolean> {
  const [program = "", ...words] = command;
  const env = { ...process.env, ...(data ? { ANNALS_DATA: data } : {}) };
  let file: number | undefined;
  try {
    file = openEmpty(output);
    const child = spawn(program, words, { env, detached: true, stdio: ["ignore", file, file] });
    const code = new Promise<number | null>((resolve, reject) => {
      child.on("error", reject);
      child.on("exit", resolve);
    });
    child.unref(); // neither the installation nor the wait for it keeps the harness alive
    const exit = await code;
    log.note(exit === 0 ? "the installation was started" : "the installation was not started", { exit, output });
    return exit === 0;
  } catch (error) {
    log.note("the installation was not started", { error: String(error) });
    return false;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
