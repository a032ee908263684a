/** The project's key documents, told by content: once, and again when they change. */

import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Guide, Item } from "./language.ts";

const MAX_BYTES = 64 * 1024;

export class Documents {
  private readonly told = new Map<string, string>();

  constructor(private readonly root: string) {}

  /** What has changed since the last time. */
  async changes(guide: Guide): Promise<Item[]> {
    const items: Item[] = [];
    for (const path of guide.documents ?? []) {
      const item = await this.change(path, guide.document_bytes ?? MAX_BYTES);
      if (item) items.push(item);
    }
    return items;
  }

  private async change(path: string, most: number): Promise<Item | undefined> {
    const text = await content(join(this.root, path), most);
    const digest = text === undefined ? "" : createHash("sha256").update(text).digest("hex");
    if ((this.told.get(path) ?? "") === digest) return undefined;
    this.told.set(path, digest);
    return { kind: "document.seen", path, digest, ...(text === undefined ? {} : { text }) };
  }
}

/** A document's text; nothing where there is none, or one that nobody would want in a prompt. */
async function content(path: string, most: number): Promise<string | undefined> {
  try {
    const { size } = await stat(path);
    return size > most ? undefined : await readFile(path, "utf8");
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EISDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}
