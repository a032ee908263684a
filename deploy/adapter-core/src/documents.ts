/** The project's documents and key files, reported by content: once, and again when they change. */

import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import type { ClientManifest, Item } from "./language.ts";
import type { Log } from "./log.ts";
import { holdsKey, isPrivate } from "./private.ts";

/** The most of one of them, and of how many, whatever the guide says: it is another machine's word. */
const MAX_BYTES = 100 * 1024;
const MAX_DOCUMENTS = 100;
const PRIVATE = "it is a file with secrets by its name, and such files are never read";
/** A link that comes in between is not followed, and a pipe is not waited for. */
const CAREFULLY = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const UTF8 = new TextDecoder("utf-8", { fatal: true });

/** Which files are wanted. */
type Wanted = Pick<ClientManifest, "documents" | "document_bytes">;

/** A file as it is now: its bytes and text, or why there are none. Without any of it there is no such file. */
interface Found {
  bytes?: Buffer;
  text?: string;
  reason?: string;
}

export class Documents {
  /** By project, since each has a log of its own, and then by path: the digest. */
  private readonly reported = new Map<string, Map<string, string>>();
  private readonly leftOut = new Map<string, string>();
  private looking: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly root: string,
    private readonly log: Pick<Log, "note">,
  ) {}

  /** What has changed since the last report to a project. Looks take turns, so that the last report is the newest. */
  changes(project: string, guide: Wanted): Promise<Item[]> {
    const reported = this.reported.get(project) ?? new Map<string, string>();
    this.reported.set(project, reported);
    const look = this.looking.then(() => this.look(guide, reported));
    this.looking = look.catch(() => undefined); // whoever asked hears of it
    return look;
  }

  private async look(guide: Wanted, reported: Map<string, string>): Promise<Item[]> {
    const root = await realpath(this.root);
    const items: Item[] = [];
    const most = Math.min(guide.document_bytes || MAX_BYTES, MAX_BYTES);
    for (const path of (guide.documents ?? []).slice(0, MAX_DOCUMENTS)) {
      const item = await this.change(root, path, most, reported);
      if (item) items.push(item);
    }
    return items;
  }

  private async change(
    root: string,
    path: string,
    most: number,
    reported: Map<string, string>,
  ): Promise<Item | undefined> {
    let found: Found;
    try {
      found = await find(root, path, most);
    } catch (error) {
      this.explain(path, String(error)); // it may be there all the same: what was reported of it holds
      return undefined;
    }
    this.explain(path, found.reason ?? "");
    const { bytes, text } = found;
    const digest = bytes ? createHash("sha256").update(bytes).digest("hex") : "";
    if (reported.get(path) === digest) return undefined; // also of one that is not there: it may be known from before
    reported.set(path, digest);
    return { kind: "document.seen", path, digest, ...(text === undefined ? {} : { text }) };
  }

  /** Once, until there is another reason or none. */
  private explain(path: string, reason: string): void {
    if (reason && this.leftOut.get(path) !== reason) this.log.note("left out of the prompt", { path, reason });
    this.leftOut.set(path, reason);
  }
}

/** A text that somebody may want in a prompt. Nothing is opened that does not lie below the root, links followed. */
async function find(root: string, path: string, most: number): Promise<Found> {
  if (isPrivate(path)) return { reason: PRIVATE };
  try {
    const real = await realpath(join(root, path));
    if (!real.startsWith(root.endsWith(sep) ? root : root + sep)) return { reason: "it leads out of the project" };
    if (isPrivate(relative(root, real))) return { reason: PRIVATE };
    return await read(real, most);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return {};
    if (code === "ELOOP") return { reason: "its links lead in a circle" };
    throw error;
  }
}

async function read(path: string, most: number): Promise<Found> {
  const file = await open(path, CAREFULLY);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) return { reason: "it is no file" };
    if (stats.size > most) return { reason: `it is longer than ${most} bytes` };
    const { buffer, bytesRead } = await file.read(Buffer.alloc(stats.size), 0, stats.size, 0);
    const found = decoded(buffer.subarray(0, bytesRead));
    return holdsKey(found.text ?? "") ? { reason: PRIVATE } : found;
  } finally {
    await file.close();
  }
}

function decoded(bytes: Buffer): Found {
  try {
    if (!bytes.includes(0)) return { bytes, text: UTF8.decode(bytes) };
  } catch {
    // another encoding, or none
  }
  return { reason: "it is no text in UTF-8" };
}
