/** Where a call of a tool goes: one with actions goes where its argument `action` says. Pure. */

import type { Callable, Mode, Tool } from "./language.ts";

type Arguments = Record<string, unknown>;

/** A call that goes somewhere with these arguments, or the sentence that says why it goes nowhere. */
export type Routed = { to: Callable; given: Arguments } | { refusal: string };

/** Whether a tool is for sessions of this mode; as long as none is decided, it is. */
export const isFor = (modes: readonly Mode[] = ["primary"], mode: Mode | "" = "") =>
  mode === "" || modes.includes(mode);

/** An action that a model has written, cut to a length that fits into a refusal. */
function quoted(action: unknown): string {
  const text = JSON.stringify(action) ?? "";
  return text.length > MOST_QUOTED ? `${text.slice(0, MOST_QUOTED)}…` : text;
}

const MOST_QUOTED = 60;

/** `mode`: that of the session; empty while none is decided, and then the service alone says what is refused. */
export function routed(
  { name, verb, subject, modes, actions = {} }: Pick<Tool, "name" | "verb" | "subject" | "modes" | "actions">,
  given: Arguments,
  mode: Mode | "",
): Routed {
  const listed = Object.keys(actions);
  if (listed.length === 0) {
    if (isFor(modes, mode)) return { to: { verb, subject }, given };
    return { refusal: `Nothing was done: ${name} does nothing in this session; go on without it.` };
  }
  const offered = listed.filter((action) => mode === "" || actions[action]?.modes.includes(mode));
  const { action = "", ...rest } = given;
  const found = listed.find((name) => name === action);
  const target = found && actions[found];
  if (target && offered.includes(found)) return { to: target, given: rest };
  const choice = offered.length > 0 ? `give one of ${offered.join(", ")}` : "go on without it";
  if (action === "") return { refusal: `Nothing was done: ${name} needs an action; ${choice}.` };
  const wrong = target ? "does not take this action in this session" : "has no such action";
  return { refusal: `Nothing was done: ${name} ${wrong}: ${quoted(action)}; ${choice}.` };
}
