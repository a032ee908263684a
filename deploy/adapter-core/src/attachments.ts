/** What is reported of a picture or a document in a message, without its bytes. Pure. */

import { createHash } from "node:crypto";
import type { Attachment } from "./language.ts";
import { pixels } from "./pixels.ts";

/** A file as a message holds it: in a data url, or at another address. */
export interface File {
  mime: string;
  url: string;
  filename?: unknown;
}

export function isFile(value: unknown): value is File {
  const { mime, url } = (value ?? {}) as Partial<File>;
  return typeof mime === "string" && typeof url === "string";
}

/** Its kind, name, size and digest. */
export function attachment({ mime, url, filename }: File): Attachment {
  const body = bytesOf(url);
  const [width, height] = mime.toLowerCase().startsWith("image/") ? pixels(body) : [0, 0];
  return {
    mime,
    ...(typeof filename === "string" ? { filename } : {}),
    ...(body.length > 0 ? { bytes: body.length } : {}),
    ...(width > 0 && height > 0 ? { width, height } : {}),
    digest: createHash("sha256")
      .update(body.length > 0 ? body : url)
      .digest("hex"),
  };
}

/** The bytes in a data url; none of another address. */
function bytesOf(url: string): Buffer {
  const comma = url.indexOf(",");
  const head = url.slice(0, Math.max(0, comma));
  if (!head.startsWith("data:") || !head.endsWith(";base64")) return Buffer.alloc(0);
  return Buffer.from(url.slice(comma + 1), "base64");
}
