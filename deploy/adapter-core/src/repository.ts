/** What a repository is named by: the commit that its history begins with, as git itself finds it. */

import { type ExecFileException, execFile } from "node:child_process";
import { resolve } from "node:path";

/** Milliseconds that one call of git may take; who waits for a name waits far less long. */
const PATIENCE = 30_000;
const MOST_BYTES = 1024 * 1024;
/** How Node says that there is more: a commit's message may be of any length, and stands last. */
const TOO_LONG = "ERR_CHILD_PROCESS_STDIO_MAXBUFFER";

/**
 * Where the history of a directory's repository begins.
 *
 * `root`: at this commit. `shallow`: the clone ends at this commit, which has parents elsewhere. `unborn`: nothing was
 * committed yet. `none`: there is no repository. `unknown`: git did not say. `store` is the repository's own directory,
 * which its work trees have in common.
 */
export interface Beginning {
  readonly state: "root" | "shallow" | "unborn" | "none" | "unknown";
  readonly commit: string;
  readonly store: string;
  /** Why it is unknown. */
  readonly reason: string;
}

/** How git says so where it has looked in vain in a directory and above it; else one that it was led to is not there. */
const NO_REPOSITORY = "not a git repository (or any";
const FIRST = ["--first-parent", "--max-parents=0"];
const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** Of what surrounds this process, only what finding git and a person's own settings needs. */
const PASSED_ON = ["PATH", "HOME", "XDG_CONFIG_HOME", "SYSTEMROOT"];
/** What a repository's own settings could have run; they hold before every file of settings. */
const CONFIG = {
  "core.hooksPath": "/dev/null",
  "core.fsmonitor": "false",
  "core.alternateRefsCommand": "",
  "core.attributesFile": "/dev/null",
  "gc.auto": "0",
  "maintenance.auto": "false",
};
/** No locks, no questions, nothing fetched by the way, and history as it was committed. */
const QUIET = {
  GIT_OPTIONAL_LOCKS: "0",
  GIT_NO_LAZY_FETCH: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_PAGER: "cat",
  GIT_ALLOW_PROTOCOL: "none",
  GIT_NO_REPLACE_OBJECTS: "1",
  GIT_GRAFT_FILE: "/dev/null",
  LC_ALL: "C",
};

/**
 * Find where the history of a directory's repository begins: at the end of its line of first parents, so that a history
 * that is merged in later changes nothing.
 *
 * `former` returns the commit that the repository was named by before, if it was: as long as it is there, it is still the
 * one, whichever branch is checked out.
 */
export async function beginning(directory: string, former: (store: string) => string): Promise<Beginning> {
  const located = await git(directory, "rev-parse", "--git-common-dir");
  if (located.failed) {
    const state = located.words.includes(NO_REPOSITORY) ? "none" : "unknown";
    return { state, commit: "", store: "", reason: located.words };
  }
  const store = resolve(directory, located.text.replace(/\n$/, ""));
  const before = former(store);
  if (COMMIT.test(before)) {
    const found = await git(directory, "cat-file", "commit", before);
    if (!found.failed && !hasParent(found.text)) return { state: "root", commit: before, store, reason: "" };
  }
  const checkedOut = await first(directory, "HEAD");
  const isUnborn = checkedOut.failed && checkedOut.words.includes("bad revision 'HEAD'");
  const { failed, text } = isUnborn ? await firstOfBranches(directory) : checkedOut;
  if (failed) return { state: isUnborn ? "unborn" : "unknown", commit: "", store, reason: checkedOut.words };
  const commit = /^commit ([0-9a-f]+)\n/.exec(text)?.[1] ?? "";
  if (!COMMIT.test(commit)) return { state: "unknown", commit: "", store, reason: "git names no first commit" };
  return { state: hasParent(text) ? "shallow" : "root", commit, store, reason: "" };
}

/** The commit at the end of a line of first parents, as git stores it. */
const first = (directory: string, revision: string) =>
  git(directory, "rev-list", ...FIRST, "--format=raw", revision, "--");

/** The same where `HEAD` names no commit, as when a branch was renamed: of all branches, if they have one such end. */
async function firstOfBranches(directory: string): Promise<Answer> {
  const listed = await git(directory, "rev-list", ...FIRST, "--branches", "--remotes");
  const [only, ...others] = new Set(listed.text.split("\n").filter(Boolean));
  return !listed.failed && only && others.length === 0 ? first(directory, only) : { ...listed, failed: true };
}

/** Whether a commit's own text names a parent: it does so, too, where the clone does not have that one. */
const hasParent = (text: string) => /^parent /m.test(text.slice(0, Math.max(0, text.indexOf("\n\n"))));

interface Answer {
  failed: boolean;
  text: string;
  words: string;
}

function git(directory: string, ...words: string[]): Promise<Answer> {
  return new Promise((settle) => {
    const options = { cwd: directory, env: environment(), timeout: PATIENCE, maxBuffer: MOST_BYTES } as const;
    const ended = (error: ExecFileException | null, text: string, complaint: string) => {
      const failed = error !== null && error.code !== TOO_LONG;
      settle({ failed, text, words: complaint.trim() || String(error ?? "") });
    };
    try {
      const child = execFile("git", words, { ...options, killSignal: "SIGKILL", encoding: "utf8" }, ended);
      child.stdin?.end();
      child.unref();
    } catch (error) {
      settle({ failed: true, text: "", words: String(error) });
    }
  });
}

function environment(): Record<string, string> {
  const found: Record<string, string> = { ...QUIET };
  for (const name of PASSED_ON) {
    const value = process.env[name];
    if (value !== undefined) found[name] = value;
  }
  const entries = Object.entries(CONFIG);
  found.GIT_CONFIG_COUNT = String(entries.length);
  entries.forEach(([name, value], at) => {
    found[`GIT_CONFIG_KEY_${at}`] = name;
    found[`GIT_CONFIG_VALUE_${at}`] = value;
  });
  return found;
}
