/** Calls in which a model has copied what only stands for a text: they would put it in that text's place. Pure. */

import type { ClientManifest, Mode } from "./language.ts";

const USUAL: Mode = "primary";

/** Arguments that lie deeper are not looked at. */
const DEEPEST = 40;

/**
 * Why a call is not to be made, as its agent is told; empty: it may be. One is refused of which a whole argument, at any
 * depth, is a placeholder. What only holds one passes: files may speak of them, and searches look for them.
 */
export function refusalOf(
  guide: Pick<ClientManifest, "tools" | "placeholders" | "refusals">,
  tool: string,
  args: unknown,
  mode: Mode | "",
): string {
  const { placeholders = "", refusals = {}, tools = [] } = guide;
  const refusal = refusals[mode || USUAL] ?? "";
  if (!placeholders || !refusal || tools.some(({ name, takes_placeholders }) => name === tool && takes_placeholders)) {
    return "";
  }
  const found = copied(args, new RegExp(placeholders, "i"), []);
  if (!found) return "";
  const [path, text] = found;
  const filled: Record<string, string> = { argument: path.join("."), text: text.trim() };
  return refusal.replace(/\{(argument|text)\}/g, (_, name: string) => filled[name] ?? "");
}

/** The first argument that is a placeholder, with the way to it. */
function copied(value: unknown, placeholder: RegExp, path: readonly string[]): [readonly string[], string] | undefined {
  if (typeof value === "string") return placeholder.test(value.trim()) ? [path, value] : undefined;
  if (typeof value !== "object" || value === null || path.length > DEEPEST) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    const found = copied(inner, placeholder, [...path, name]);
    if (found) return found;
  }
  return undefined;
}
