/** What a project is called on the wire, and what it was called before. */

import { createHash } from "node:crypto";
import { existsSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { readOwn, writeOwn } from "./files.ts";
import { inTurn } from "./lock.ts";
import type { Log } from "./log.ts";
import { type Beginning, beginning } from "./repository.ts";
import { within } from "./timers.ts";

/** Milliseconds that a harness's start waits for a name; what is found later is the name of the next start. */
export const LIMIT = 200;
/** Former names of a project that are reported. */
const MOST_FORMER = 20;

/** A project's name, and those that it had here before, the newest first. */
export interface Identity {
  id: string;
  former: readonly string[];
  /** Whether it is a home directory. */
  home: boolean;
  /** Its version control: `git`; empty: none was found. */
  vcs: string;
}

type Notes = Pick<Log, "note">;

/** Where a session works: its directory, and the root of the work tree that it lies in. */
export interface Workplace {
  directory: string;
  root: string;
}

/** The name of a directory that no repository names. */
export const directoryName = (root: string) =>
  `dir-${createHash("sha256").update(real(root)).digest("hex").slice(0, 12)}`;

/** The name by what is known of a repository; where that names nothing the one that it had, or its directory's. */
export function nameOf(found: Pick<Beginning, "state" | "commit">, root: string, known = ""): string {
  if (found.state === "root") return `git-${found.commit}`;
  if (found.state === "shallow") return `shallow-${found.commit}`;
  return known || directoryName(root);
}

/**
 * The project of a directory: of a repository its root commit. Where that cannot be found, or not in time, the last
 * known name is used: a git that fails once does not make another project of it. `state` is the directory in which
 * names are stored.
 */
export async function identify(place: Workplace, state: string, log: Notes, limit = LIMIT): Promise<Identity> {
  const names = new Names(state, log);
  const reading = beginning(place.directory, (store) => names.commit(store));
  let found: Beginning | undefined;
  await within(limit, [reading.then((one) => (found = one))]);
  if (!found) {
    const taking = reading.then((late) => late.state !== "unknown" && names.take(late, place));
    taking.catch((error) => log.note("a project's name that came late was not stored", { error: String(error) }));
  }
  const { state: what = "unknown", reason = `git has not answered in ${limit} ms` } = found ?? {};
  if (what === "unknown") log.note("the last known name of a project is used", { place: place.root, reason });
  const id = names.take(found, place);
  return {
    id,
    former: names.former(id),
    home: real(place.root) === real(homedir()),
    vcs: found?.store ? "git" : "",
  };
}

/** Names of projects by the directories of their repositories and by their roots, stored across restarts. */
class Names {
  private readonly log: Notes;
  private readonly path: string;
  private readonly formerPath: string;

  constructor(state: string, log: Notes) {
    this.log = log;
    this.path = join(state, "projects.json");
    this.formerPath = join(state, "former_names.json");
  }

  /** The commit that this repository was named by; empty: none is stored. */
  commit(store: string): string {
    const known = this.known[real(store)] ?? "";
    return known.startsWith("git-") ? known.slice("git-".length) : "";
  }

  /** The name by what was found, which is stored from now on. */
  take(found: Beginning | undefined, place: Workplace): string {
    const { known } = this;
    const store = found?.store ? real(found.store) : "";
    const tree = workTree(place.directory);
    const root = store ? (tree && isTreeOf(tree, store) ? tree : store) : (tree ?? real(place.root));
    const before = known[store] ?? known[root] ?? "";
    const id = found ? nameOf(found, root, before) : before || directoryName(root);
    const keys = [...new Set([root, ...(store ? [store] : [])])];
    if (before && before !== id) this.leave(before, id);
    if (keys.some((key) => known[key] !== id)) {
      const ours = Object.fromEntries(keys.map((key) => [key, id]));
      this.change(this.path, (stored) => ({ ...named(stored), ...ours }));
    }
    return id;
  }

  /** The names that this one has taken the place of, the newest first. */
  former(id: string): readonly string[] {
    const found = this.stored(this.formerPath)[id];
    return Array.isArray(found) ? found.filter((one) => typeof one === "string") : [];
  }

  private leave(before: string, id: string): void {
    this.change(this.formerPath, (stored) => {
      const former = [before, ...this.former(before), ...this.former(id)].filter((one) => one !== id);
      return { ...stored, [id]: [...new Set(former)].slice(0, MOST_FORMER) };
    });
  }

  private get known(): Record<string, string> {
    return named(this.stored(this.path));
  }

  /** The values in a file; none where it cannot be read, which is noted. */
  private stored(path: string): Record<string, unknown> {
    try {
      return read(path);
    } catch (error) {
      this.log.note("stored names of projects were not read", { path, error: String(error) });
      return {};
    }
  }

  /**
   * Write a file anew, as this makes it of what it holds in that moment: other harnesses on this machine write it, too.
   * One that cannot be read stays as it is.
   */
  private change(path: string, values: (stored: Record<string, unknown>) => object): void {
    try {
      inTurn(path, () => writeOwn(path, JSON.stringify(values(read(path))), `${path}.${process.pid}`));
    } catch (error) {
      this.log.note("a project's name was not stored", { error: String(error) });
    }
  }
}

/**
 * The root of the work tree that a directory lies in, as far as can be seen without git; undefined: it lies in none.
 * What a harness calls the root may be a folder that several repositories have in common.
 */
function workTree(directory: string): string | undefined {
  for (let folder = real(directory); ; folder = dirname(folder)) {
    if (existsSync(join(folder, ".git"))) return folder;
    if (folder === dirname(folder)) return undefined;
  }
}

/** Whether a work tree is of the repository in this directory; another one may lie in it, or be led to by a file. */
function isTreeOf(tree: string, store: string): boolean {
  const link = join(tree, ".git");
  return real(link) === store || statSync(link, { throwIfNoEntry: false })?.isFile() === true;
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function named(stored: Record<string, unknown>): Record<string, string> {
  const found = Object.entries(stored).filter(([, name]) => typeof name === "string" && name);
  return Object.fromEntries(found) as Record<string, string>;
}

/** The values in a file; none where there is none, or it is not as it was written. Throws where it cannot be read. */
function read(path: string): Record<string, unknown> {
  let text: string;
  try {
    text = readOwn(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw error;
  }
  try {
    const found: unknown = JSON.parse(text);
    return typeof found === "object" && found !== null && !Array.isArray(found) ? { ...found } : {};
  } catch {
    return {}; // cut off by a power cut
  }
}
