/** Which event was the newest that was heard of each message and part: the event log, read later, may be behind it. */

import type { BusEvent, Info } from "./harness.ts";

/** Events by which a session that nobody knows yet becomes known. */
export const STARTS = new Set([
  "session.created",
  "session.updated",
  "message.updated",
  "message.part.updated",
  "session.idle",
]);

interface Newest {
  id: string;
  count: number;
}

export class Heard {
  private readonly newest = new Map<string, Newest>();
  /** How many events have been heard: a point in time. */
  count = 0;

  note(event: BusEvent): void {
    const subject = subjectOf(event);
    if (!subject) return;
    this.count += 1;
    this.newest.set(subject, { id: event.id ?? "", count: this.count });
  }

  /** Whether anything was heard of the message or part that an event is about. */
  has(event: BusEvent): boolean {
    return this.newest.has(subjectOf(event));
  }

  hasMessage(message: string): boolean {
    return this.newest.has(`message:${message}`);
  }

  hasPart(part: string): boolean {
    return this.newest.has(`part:${part}`);
  }

  isNewest(event: BusEvent): boolean {
    return this.has(event) && this.newest.get(subjectOf(event))?.id === event.id;
  }

  /** Whether something was heard of an event's message or part after a point in time. */
  isSince(event: BusEvent, time: number): boolean {
    return (this.newest.get(subjectOf(event))?.count ?? 0) > time;
  }
}

/** The key of an event: a later event with the same key replaces it. Empty: nothing replaces it. */
export function subjectOf({ type, properties = {} }: BusEvent): string {
  const { part, partID, info, messageID } = properties;
  switch (type) {
    case "message.part.updated":
      return `part:${part?.id}`;
    case "message.part.removed":
      return `part:${partID}`;
    case "message.updated":
      return `message:${(info as Info | undefined)?.id}`;
    case "message.removed":
      return `message:${messageID}`;
    default:
      return type === "session.updated" ? "session" : "";
  }
}
