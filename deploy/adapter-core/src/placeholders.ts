/** Finds calls in which a model has copied a placeholder, which would replace the text that it names. Pure. */

import type { ClientManifest, Mode } from "./language.ts";

const USUAL: Mode = "primary";

/** Arguments that lie deeper are not looked at. */
const DEEPEST = 40;

/**
 * Why a call is refused, in a sentence for its agent; empty: it may be made. One is refused of which a whole
 * argument, at any depth, is a placeholder. What only contains one passes: files may mention them, and searches look
 * for them.
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
