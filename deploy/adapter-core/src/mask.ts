/** The first of two masks: tokens of known shape never leave the harness; the service masks the rest before its log. */

import shapes from "./secrets.json" with { type: "json" };

/** Every token contains a run of so many of these characters, and most texts contain none. */
const LONG_RUN = /[\w-]{20}|PRIVATE KEY|:\/\/[^\s/]*:/;
const SHAPES = shapes.map(({ kind, pattern, flags }) => ({ kind, pattern: new RegExp(pattern, `dg${flags}`) }));
const TOKEN_LENGTH = 20;
const REST_OF_RUN = /[\w-]*/y;

/** The text with a placeholder for each token. */
export function mask(text: string): string {
  if (!LONG_RUN.test(text)) return text;
  return SHAPES.reduce((masked, { kind, pattern }) => without(masked, pattern, kind), text);
}

function without(text: string, pattern: RegExp, kind: string): string {
  let position = 0;
  let masked = "";
  for (const match of text.matchAll(pattern)) {
    const [start, end] = span(match);
    if (match.groups?.no_token !== undefined || start < position) continue;
    masked += `${text.slice(position, start)}[masked:${kind}]`;
    REST_OF_RUN.lastIndex = end;
    position = end + (REST_OF_RUN.exec(text)?.[0].length ?? 0);
  }
  return masked + text.slice(position);
}

/** Some shapes capture the token, others only its beginning. */
function span(match: RegExpExecArray): [number, number] {
  const group = match.findIndex((captured, index) => index > 0 && (captured?.length ?? 0) >= TOKEN_LENGTH);
  return match.indices?.[Math.max(0, group)] ?? [match.index, match.index + match[0].length];
}

const BODIES = ["text", "input", "output", "title", "content", "description", "parameters", "reason", "filename"];

/** A value of the inbox with every text in it masked. */
export function masked<T>(value: T): T {
  if (Array.isArray(value)) return value.map(masked) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [
      key,
      typeof one === "string" ? (BODIES.includes(key) ? mask(one) : one) : masked(one),
    ]),
  ) as T;
}
