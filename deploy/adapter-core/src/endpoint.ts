/** Where the broker is, and where this adapter keeps its files. */

import { homedir } from "node:os";
import { join } from "node:path";
import type { CompactionMode } from "./compaction.ts";
import { readOwn } from "./files.ts";
import type { Installation } from "./launch.ts";

/** What `annals setup` writes next to the plugin's path. */
export interface Options {
  /** The file in which `annals up` writes its broker's address. */
  broker?: string;
  /** A broker's address instead of that file. */
  url?: string;
  user?: string;
  /** The environment variable that holds the password. */
  password_env?: string;
  /** The directory for plans and for what waits to be sent. */
  state?: string;
  /**
   * How the harness's own compaction is treated: managed (off while served), assist (on, helped),
   * replace (on, with a prompt of ours), observe (on, left alone).
   */
  compaction?: CompactionMode;
  /** Whether the harness answers questions of the rooms with its own models, outside of the person's sessions. */
  questions?: boolean;
  /** How to start the installation where it does not run; `false`: somebody else does. */
  house?: false | Installation;
  /** Milliseconds that a model call waits for its plan at most, and a summary for its brief. */
  deadline_ms?: number;
  /** How many times as long as usual the service is waited for, at a start, a turn and an end; for slow machines. */
  patience?: number;
}

/** So many milliseconds waits who usually waits so long. */
export function patience(options: Options, usual: number): number {
  return usual * (options.patience ?? 1);
}

export interface Endpoint {
  url: string;
  user?: string;
  password?: string;
}

/** The broker as it is known now; read anew before each attempt to connect, since it may have moved. */
export function endpoint(options: Options): Endpoint {
  const environment = process.env;
  const url = options.url ?? (options.broker ? undefined : environment.ANNALS_NATS__URL);
  if (url) {
    const password = environment[options.password_env ?? "ANNALS_NATS__PASSWORD"];
    return password ? { url, user: options.user ?? "harness", password } : { url };
  }
  const path = options.broker ?? join(dataHome(), "annals", "broker.json");
  try {
    const written = JSON.parse(readOwn(path));
    const password = written.passwords?.harness;
    return password ? { url: written.url, user: "harness", password } : { url: written.url };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ELOOP") throw new Error(linked(path));
    throw new Error("no installation has run here yet"); // another at the usual address is none of ours
  }
}

/** The directory in which the adapter of this harness keeps its files. */
export function stateDirectory(options: Options, harness: string): string {
  return options.state ?? join(process.env.XDG_STATE_HOME || join(homedir(), ".local", "state"), "annals", harness);
}

function dataHome(): string {
  return process.env.XDG_DATA_HOME || join(homedir(), ".local", "share");
}

const linked = (path: string) =>
  `${path} is a link, and is not followed: its file names the broker that everything is sent to. Remove the link, ` +
  "or name the file that it leads to in the option `broker` of the plugin.";
