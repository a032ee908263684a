/** Texts as anything but JavaScript can hold them. Pure. */

/**
 * A value of JSON with U+FFFD for each half of a character, in its keys, too: a text that was cut between two code
 * units of UTF-16 ends or begins with one. Where there is none it is the same value.
 */
export function wellFormed<T>(value: T): T {
  if (typeof value === "string") return value.toWellFormed() as T;
  if (Array.isArray(value)) return unless(value, value.map(wellFormed)) as T;
  if (typeof value !== "object" || value === null) return value;
  const before = Object.entries(value).flat();
  const now = before.map(wellFormed);
  if (unless(before, now) === before) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [wellFormed(key), wellFormed(one)])) as T;
}

/** The former values where nothing has changed. */
function unless(before: readonly unknown[], now: readonly unknown[]): readonly unknown[] {
  return now.every((one, at) => one === before[at]) ? before : now;
}
