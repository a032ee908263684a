/** What an erasure's order says of texts, and the texts of a file that it means. Pure. */

import { createHash, scrypt } from "node:crypto";
import { promisify } from "node:util";
import type { ErasureOrder } from "./language.ts";

/** Bytes at the beginning of a spelling that the first filter sees, and the bits of both filters. */
const ANCHOR = 8;
const ANCHOR_BITS = 12;
const CHECK_BITS = 8;
const DIGEST_BYTES = 16;
const MASK = "[masked:erased]";
const slow = promisify<Buffer, Buffer, number, object, Buffer>(scrypt);

/** What is put in the place of each text that was found; both are bytes, as latin1. */
export type Masks = ReadonlyMap<string, string>;

/** scrypt takes 128 * 8 * N bytes, and node gives it 32 MB. */
const MOST_COST = 2 ** 14;
const isText = (value: unknown) => typeof value === "string";
const isCount = (value: unknown) => Number.isInteger(value) && (value as number) >= 0;
const isFlag = (value: unknown) => typeof value === "boolean";
/** The lists that name texts have as many values each. */
const OF_SPELLINGS = { lengths: isCount, anchors: isCount, checks: isCount, digests: isText, encoded: isFlag } as const;
const OF_NAMES = { sessions: isText, projects: isText } as const;

/** Why this plugin cannot do an order, such as one of a later release; empty: it can. */
export function problemOf(order: Partial<Record<keyof ErasureOrder, unknown>> | null): string {
  if (typeof order !== "object" || order === null) return "it is no order";
  if (!isText(order.order) || order.order === "") return "it has no id";
  if (Number.isNaN(Date.parse(String(order.ordered_at)))) return "ordered_at is no moment";
  if (!/^[0-9a-f]{32}$/.test(String(order.salt))) return "salt is not 16 bytes in hexadecimal";
  const cost = order.cost as number;
  if (!isCount(cost) || cost < 2 || cost > MOST_COST || (cost & (cost - 1)) !== 0)
    return "cost is no power of two here";
  for (const [name, fits] of Object.entries({ ...OF_SPELLINGS, ...OF_NAMES })) {
    const list = order[name as keyof ErasureOrder] ?? [];
    if (!Array.isArray(list) || !list.every(fits)) return `${name} is no list of the right values`;
  }
  const counts = Object.keys(OF_SPELLINGS).map((name) => (order[name as keyof ErasureOrder] as unknown[])?.length ?? 0);
  return new Set(counts).size > 1 ? "its lists differ in length" : "";
}

/** Looks for what one order means. `services/domain/erasure/orders.py` computes the same. */
export class Seeker {
  private readonly salt: Buffer;
  private readonly base: number;
  /** The base to the power of the anchor's length: what a byte weighs that leaves it. */
  private readonly leaving: number;
  /** By the value of the first filter: the spellings that it may be. */
  private readonly byAnchor = new Map<number, number[]>();

  constructor(private readonly order: ErasureOrder) {
    this.salt = Buffer.from(order.salt, "hex");
    this.base = createHash("sha256").update(this.salt).digest().readUInt32BE() | 1;
    this.leaving = Array.from({ length: ANCHOR }).reduce<number>((power) => Math.imul(power, this.base), 1);
    order.anchors?.forEach((anchor, index) => {
      this.byAnchor.set(anchor, [...(this.byAnchor.get(anchor) ?? []), index]);
    });
  }

  /** The texts that both filters let through: of other texts one in a million, for each spelling. */
  candidates(data: Buffer): Set<string> {
    const found = new Set<string>();
    const isAnchor = new Uint8Array(1 << ANCHOR_BITS);
    for (const anchor of this.byAnchor.keys()) isAnchor[anchor] = 1;
    let hash = 0;
    for (let end = 0; end < data.length; end += 1) {
      hash = (Math.imul(hash, this.base) + (data[end] as number) + 1) | 0;
      if (end >= ANCHOR) hash = (hash - Math.imul((data[end - ANCHOR] as number) + 1, this.leaving)) | 0;
      const anchor = mixed(hash) >>> (32 - ANCHOR_BITS);
      if (isAnchor[anchor] && end >= ANCHOR - 1) this.check(data, end - ANCHOR + 1, anchor, found);
    }
    return found;
  }

  private check(data: Buffer, start: number, anchor: number, found: Set<string>): void {
    for (const index of this.byAnchor.get(anchor) ?? []) {
      const end = start + (this.order.lengths?.[index] ?? 0);
      if (end > data.length) continue;
      let hash = 0;
      for (let at = start; at < end; at += 1) hash = (Math.imul(hash, this.base) + (data[at] as number) + 1) | 0;
      if (mixed(hash) >>> (32 - CHECK_BITS) === this.order.checks?.[index])
        found.add(data.toString("latin1", start, end));
    }
  }

  /** Those of the candidates that are spellings of what was erased, with what is put in their place. */
  async recognized(candidates: Iterable<string>): Promise<[string, string][]> {
    const found: [string, string][] = [];
    for (const text of candidates) {
      const cost = { N: this.order.cost, r: 8, p: 1 };
      const digest = (await slow(Buffer.from(text, "latin1"), this.salt, DIGEST_BYTES, cost)).toString("hex");
      const index = this.order.digests?.indexOf(digest) ?? -1;
      if (index >= 0 && !MASK.includes(text))
        found.push([text, this.order.encoded?.[index] ? "A".repeat(text.length) : MASK]);
    }
    return found;
  }
}

/**
 * The spellings that these orders mean and that occur in any of these texts, the longest first. `pause` is waited for
 * before each order: the harness is blocked while the texts are looked through.
 */
export async function spellingsIn(
  orders: readonly ErasureOrder[],
  texts: readonly Buffer[],
  pause: () => Promise<void> = async () => undefined,
): Promise<Masks> {
  const found: [string, string][] = [];
  for (const order of orders) {
    if (!order.digests?.length) continue;
    await pause();
    const seeker = new Seeker(order);
    const candidates = new Set(texts.flatMap((text) => [...seeker.candidates(text)]));
    found.push(...(await seeker.recognized(candidates)));
  }
  return new Map(found.sort(([one], [other]) => other.length - one.length));
}

/** The bytes with each spelling replaced; a mask and the bytes next to it may be a spelling again. */
export function without(data: Buffer, masks: Masks): Buffer {
  const whole = data.toString("latin1");
  let text = whole;
  for (let before: string | undefined; before !== text; ) {
    before = text;
    for (const [spelling, mask] of masks) text = text.replaceAll(spelling, mask);
  }
  return text === whole ? data : Buffer.from(text, "latin1");
}

/** The upper bits of a hash over bytes depend on all of its lower ones afterwards. */
const mixed = (hash: number) => Math.imul(hash ^ (hash >>> 16), 0x45d9f3b);
