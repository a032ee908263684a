/** Tags in texts: the service writes them before a text, and models copy them into their own. Pure. */

/** Tags at the beginning of a text, the malformed ones included that models make of them. */
export const TAGS = /^(?:§\d+">§(?:\d+§)?\s*|§\d+§\s*)+/;

/** Text between backticks or fences, which is code; else a tag, malformed or not. */
const CODE_OR_TAG =
  /^[ \t]*(```|~~~)[\s\S]*?(?:^[ \t]*\1|$(?![\s\S]))|`[^`\n]+`|§(?<malformed>\d+)">§(?:\d+§)?|§(?<number>\d+)§/gm;

/**
 * A model's text without tags of its own making: nobody takes them for those of the service. At the beginning they go;
 * further on a sentence may speak of a tag, so its number stays. Other section signs are the model's own, and so is code.
 */
export function withoutTags(text: string): string {
  if (!text.includes("§")) return text;
  return text.replace(TAGS, "").replace(CODE_OR_TAG, (whole, ...given) => {
    const { malformed, number } = given.at(-1) as { malformed?: string; number?: string };
    return malformed ?? number ?? whole;
  });
}
