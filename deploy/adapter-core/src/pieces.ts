/** What is reported at once, cut into messages that the broker takes, masked, long bodies apart. Pure. */

import { createHash } from "node:crypto";
import {
  type Item,
  LISTED_AT_ONCE,
  MAX_BODY_BYTES,
  MAX_PIECE_BYTES,
  type PartSeen,
  type StepSeen,
} from "./language.ts";
import { masked } from "./mask.ts";
import type { InboundMessage } from "./spool.ts";
import { wellFormed } from "./texts.ts";

const BODIES = ["text", "input", "output"] as const;

/** Messages of at most 512 KiB each that hold all of this, in order. The harness and `name` make their ids. */
export function inboundMessages(
  harness: string,
  subject: string,
  name: string,
  at: Date,
  items: readonly Item[],
): InboundMessage[] {
  const made: InboundMessage[] = [];
  let encodedItems: string[] = [];
  let size = 0;
  let bodies: Record<string, string> = {};
  const close = () => {
    if (encodedItems.length === 0) return;
    const id = `${harness}/${name}${made.length === 0 ? "" : `/${made.length}`}`;
    const data = `{"id":${JSON.stringify(id)},"at":"${at.toISOString()}","items":[${encodedItems.join(",")}]}`;
    made.push({ subject, id, data, ...(Object.keys(bodies).length > 0 ? { bodies } : {}) });
    [encodedItems, size, bodies] = [[], 0, {}];
  };
  for (const item of items.flatMap(small)) {
    const apart: Record<string, string> = {};
    const encoded = JSON.stringify(withoutLongBodies(masked(wellFormed(item)), apart));
    const cost = Buffer.byteLength(encoded);
    if (size + cost > MAX_PIECE_BYTES) close();
    encodedItems.push(encoded);
    size += cost;
    Object.assign(bodies, apart);
  }
  close();
  return made;
}

function small(item: Item): Item[] {
  if (item.kind === "step.seen" && (item.messages?.length ?? 0) > LISTED_AT_ONCE) return longStep(item);
  if (item.kind !== "message.seen" || !item.parts || length(item) <= MAX_PIECE_BYTES / 4) return [item];
  const { parts, ...bare } = item;
  return [bare, ...parts.map((part): PartSeen => ({ kind: "part.seen", ...part }))];
}

/** A long list in several pieces, the step itself with the last of them. */
function longStep(step: StepSeen): Item[] {
  const items: Item[] = [];
  const listed = step.messages ?? [];
  let after = step.after ?? "";
  for (let start = 0; start < listed.length; start += LISTED_AT_ONCE) {
    const messages = listed.slice(start, start + LISTED_AT_ONCE);
    const isLast = start + LISTED_AT_ONCE >= listed.length;
    items.push(isLast ? { ...step, after, messages } : { kind: "list.seen", after, messages });
    after = messages.at(-1)?.message ?? after;
  }
  return items;
}

/** Characters of an item's bodies: a lower bound of its bytes, cheap to know. */
function length(item: Extract<Item, { kind: "message.seen" }>): number {
  return (item.parts ?? []).reduce(
    (sum, part) => sum + (part.text?.length ?? 0) + (part.input?.length ?? 0) + (part.output?.length ?? 0),
    0,
  );
}

function withoutLongBodies<T extends Item>(item: T, apart: Record<string, string>): T {
  if (item.kind === "message.seen" && item.parts) {
    return { ...item, parts: item.parts.map((part) => bare(part, apart)) };
  }
  return item.kind === "part.seen" || item.kind === "document.seen" ? bare(item, apart) : item;
}

function bare<T extends object>(part: T, apart: Record<string, string>): T {
  const changed: Record<string, unknown> = {};
  for (const field of BODIES) {
    const body = (part as Record<string, unknown>)[field];
    if (typeof body !== "string" || body.length * 4 <= MAX_BODY_BYTES || isShort(body)) continue;
    const reference = createHash("sha256").update(body).digest("hex");
    apart[reference] = body;
    changed[field] = "";
    changed[`${field}_ref`] = reference;
  }
  return { ...part, ...changed };
}

/** Whether a body is short enough as JSON, where it may be six times as long. */
const isShort = (body: string) => Buffer.byteLength(JSON.stringify(body)) <= MAX_BODY_BYTES;
