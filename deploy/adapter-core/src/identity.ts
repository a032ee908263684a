/** What a project is called on the wire, and what it was called before. */

import { createHash } from "node:crypto";
import { readFileSync, realpathSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Log } from "./log.ts";

/** A project's name; `formerly` is the one it had before, empty where it is the first. */
export interface Identity {
  id: string;
  formerly: string;
  /** Whether it is a home directory. */
  home: boolean;
}

type Notes = Pick<Log, "note">;

/** Names of projects by their root directory, kept over restarts. */
type Names = Record<string, string>;

/** The name by what is known now: of a repository its first commit, where the harness knows it; else its directory. */
export function projectId(firstCommit: string | undefined, root: string): string {
  if (firstCommit) return `git-${firstCommit}`;
  return `dir-${createHash("sha256").update(real(root)).digest("hex").slice(0, 12)}`;
}

/**
 * The project at this root. A repository whose first commit cannot be told now keeps the name that it had: a git that
 * fails once does not make another project of it. A directory that has become a repository says what it was before.
 * `state` is the directory in which names are kept.
 */
export function identify(firstCommit: string | undefined, root: string, state: string, log: Notes): Identity {
  const path = join(state, "projects.json");
  const names = read(path);
  const place = real(root);
  const known = names[place] ?? "";
  const now = projectId(firstCommit, root);
  const id = !firstCommit && known ? known : now;
  if (id !== known) write(path, { ...names, [place]: id }, log);
  const hasBecomeRepository = known.startsWith("dir-") && id.startsWith("git-");
  return { id, formerly: hasBecomeRepository ? known : "", home: place === real(homedir()) };
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function read(path: string): Names {
  try {
    const names: unknown = JSON.parse(readFileSync(path, "utf8"));
    return typeof names === "object" && names !== null ? (names as Names) : {};
  } catch {
    return {};
  }
}

function write(path: string, names: Names, log: Notes): void {
  try {
    const beside = `${path}.${process.pid}`;
    writeFileSync(beside, JSON.stringify(names), { mode: 0o600 });
    renameSync(beside, path);
  } catch (error) {
    log.note("a project's name was not kept", { error: String(error) });
  }
}
