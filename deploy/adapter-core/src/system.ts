/** The system prompt: static guidance behind the harness's own, and a date that stays. Pure. */

import { createHash } from "node:crypto";
import type { ClientManifest, Mode } from "./language.ts";

/** Whether it is that of a helper agent of the harness, which is left alone. */
export const isHelper = (system: readonly string[], guide: ClientManifest) =>
  (guide.skip ?? []).some((opening) => system.some((text) => text.includes(opening)));

/** The first date in it. */
export function dateOf(system: readonly string[], guide: ClientManifest): string {
  const pattern = guide.date ? new RegExp(guide.date) : undefined;
  for (const text of system) {
    const found = pattern?.exec(text)?.[0];
    if (found) return found;
  }
  return "";
}

/**
 * The system prompt with this date in the place of its own, and with the guidance of the mode. That ends the first entry:
 * each further one may become a message, and the chat templates of some models take one system message only.
 */
export function adjusted(system: readonly string[], guide: ClientManifest, mode: Mode, date: string): string[] {
  const own = dateOf(system, guide);
  const dated = own && date ? system.map((text) => text.replace(own, () => date)) : [...system];
  const guidance = guide.system?.[mode] ?? "";
  if (!guidance || dated.some((text) => text.includes(guidance))) return dated;
  const [first, ...rest] = dated;
  return [first ? `${first}\n\n${guidance}` : guidance, ...rest];
}

/** Names what it says, whatever the date. */
export function digestOf(system: readonly string[], guide: ClientManifest): string {
  const date = dateOf(system, guide);
  const undated = date ? system.map((text) => text.replace(date, "")) : system;
  return createHash("sha256").update(undated.join("\n")).digest("hex");
}
