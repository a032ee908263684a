/** What providers store with a part: signatures of reasoning, and encrypted reasoning. Pure. */

import type { Part } from "./harness.ts";

/** Thoughts that hold only behind the very bytes they were thought about: their signature, or the sealed thought. */
const SIGNATURES = ["signature", "redactedData", "redactedContent"];
/** Seals the words that it came with, and is refused behind others: it goes back as it is or not at all. */
const OF_WORDS = ["thoughtSignature"];
/** Repeats a message's reasoning with its texts and calls, or requires it: it is removed together with it. */
const OF_THOUGHTS = ["reasoning_details", "reasoningOpaque", "itemId"];
/** What a router takes a detail for that does not say whose it is. */
const DEFAULT_FORMAT = "anthropic-claude-v1";

type Fields = Record<string, unknown>;

interface Detail {
  format?: string | null;
  signature?: string | null;
  data?: string | null;
}

/** Whether a thought is bound to its place. Each provider keeps the signature under its own name. */
export function isSigned(metadata: Fields | undefined): boolean {
  return Object.values(metadata ?? {}).some(
    (own) => isFields(own) && (SIGNATURES.some((key) => Boolean(own[key])) || details(own).some(isBound)),
  );
}

const isBound = ({ format, signature, data }: Detail) =>
  (format ?? DEFAULT_FORMAT) === DEFAULT_FORMAT && Boolean(signature || data);

function details(own: Fields): Detail[] {
  const listed = own.reasoning_details;
  return Array.isArray(listed) ? listed.filter(isFields) : [];
}

/** A part of a message whose thoughts are left out: the provider would find them here again, or miss them. */
export const withoutThoughts = (part: Part) => without(part, OF_THOUGHTS);

/** A text of which the words change. */
export const withoutSeal = (part: Part) => without(part, OF_WORDS);

/** The part itself, if it has none of these. */
function without(part: Part, keys: readonly string[]): Part {
  const metadata = part.metadata ?? {};
  const isOne = ([, own]: [string, unknown]) => isFields(own) && keys.some((key) => key in own);
  if (!Object.entries(metadata).some(isOne)) return part;
  const left = Object.entries(metadata).map(([provider, own]) => [provider, isFields(own) ? omit(own, keys) : own]);
  return { ...part, metadata: Object.fromEntries(left) };
}

const omit = (fields: Fields, keys: readonly string[]) =>
  Object.fromEntries(Object.entries(fields).filter(([key]) => !keys.includes(key)));

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
