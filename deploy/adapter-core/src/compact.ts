/** Values without the fields that say nothing. Pure. */

type Compacted<T> = { [K in keyof T]: Exclude<T[K], undefined> };

/** The same without the fields that are undefined or false: on the wire both are what a missing field says. */
export function compact<T extends object>(value: T): Compacted<T> {
  return Object.fromEntries(
    Object.entries(value).filter(([, one]) => one !== undefined && one !== false),
  ) as Compacted<T>;
}
