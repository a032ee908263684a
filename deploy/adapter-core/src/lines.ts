/** A file of lines of JSON that survives a full disk and a kill: a line that was cut off costs itself alone. */

import { appendOwn, readOwn, writeOwn } from "./files.ts";

const END = "\n";

/** What such a file holds. */
export interface Read<T> {
  values: T[];
  /** Lines that cannot be read. */
  bad: number;
  /** One of them is not the last: what follows it has been read. */
  hasGap: boolean;
  /** The last line has its end, so that another one may follow it. */
  isEnded: boolean;
}

export function read<T extends object>(path: string): Read<T> {
  const text = readOwn(path);
  const found = text
    .split(END)
    .filter(Boolean)
    .map(parsed<T>);
  const values = found.filter((value) => value !== undefined);
  const isEnded = text === "" || text.endsWith(END);
  return { values, bad: found.length - values.length, hasGap: found.slice(0, -1).includes(undefined), isEnded };
}

function parsed<T extends object>(line: string): T | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? (value as T) : undefined;
  } catch {
    return undefined;
  }
}

/** Put lines behind what the file holds; `isTorn`: the last of it may have been cut off, and must not be continued. */
export function append(path: string, values: readonly unknown[], isTorn = false): void {
  appendOwn(path, (isTorn ? END : "") + linesOf(values));
}

/** Have just these lines in the file: all of them, or what it had before. */
export function replace(path: string, values: readonly unknown[]): void {
  writeOwn(path, linesOf(values));
}

const linesOf = (values: readonly unknown[]) => values.map((value) => JSON.stringify(value) + END).join("");
