/** Forks: OpenCode copies a session's messages under new ids and does not report from where, so that is computed. */

import type { Client, Entry, Session } from "./harness.ts";

/** The title that OpenCode gives a copy when it makes it. People give titles, too: it only says that one may follow. */
const TITLE = /^.+ \(fork #\d+\)$/;
const MOST_SESSIONS = 100_000;
/** Sessions that are compared: those that can be the origin by their times, the likeliest first. */
const MOST = 40;
/** Of copies that hold the same messages, so many are compared once one session is known that does. */
const MOST_COPIES = 8;

/** Whether a session that has just begun may be a copy: what comes next says so. */
export const mayBeCopy = (session: Session) => TITLE.test(session.title ?? "");

export interface Origin {
  forked_from: string;
  forked_at?: string;
}

/**
 * The session that this one was copied from: the one whose first messages are the same, by their times, parts and calls.
 * Titles say nothing. Of several that hold the same messages, because they are copies of each other, that one is meant
 * which ends with them; then one that has made a call, since only that one has something to pass on; then the newest.
 */
export async function originOf(
  fork: Session,
  client: Client,
  hasCalled: (id: string) => boolean,
): Promise<Origin | undefined> {
  const copied = await messages(client, fork.id);
  if (!isCopied(fork, copied)) return undefined;
  const found: { session: Session; originals: Entry[] }[] = [];
  const sessions = candidates(fork, copied, await all(client));
  let left = sessions.length;
  for (const session of sessions) {
    if (left === 0) break;
    left -= 1;
    const originals = await messages(client, session.id);
    if (!beginWith(originals, copied)) continue;
    if (found.length === 0) left = Math.min(left, MOST_COPIES);
    found.push({ session, originals });
  }
  const isWhole = ({ originals }: { originals: Entry[] }) => Number(originals.length === copied.length);
  found.sort(
    (one, other) =>
      isWhole(other) - isWhole(one) ||
      Number(hasCalled(other.session.id)) - Number(hasCalled(one.session.id)) ||
      created(other.session) - created(one.session),
  );
  const [best] = found;
  if (!best) return undefined;
  const last = best.originals[copied.length - 1];
  const isPart = last !== undefined && copied.length < best.originals.length;
  return { forked_from: best.session.id, ...(isPart ? { forked_at: last.info.id } : {}) };
}

/** Whether a session holds messages from before it began: nothing else brings them there. */
export function isCopied(session: Session, entries: readonly Entry[]): boolean {
  const [first] = entries;
  const began = session.time?.created;
  return first !== undefined && (began === undefined || (first.info.time?.created ?? began) < began);
}

/**
 * The sessions that may be the origin, the likeliest first: whose own messages these are began shortly before the first
 * of them; a copy began between the last of them and the copy that was made of it.
 */
function candidates(fork: Session, copied: readonly Entry[], sessions: readonly Session[]): Session[] {
  const first = copied[0]?.info.time?.created ?? 0;
  const others = sessions.filter(({ id, time }) => id !== fork.id && (time?.updated ?? first) >= first);
  const earlier = others.filter((session) => created(session) <= first);
  earlier.sort((one, other) => created(other) - created(one));
  const later = others.filter((session) => created(session) > first && created(session) <= created(fork));
  later.sort((one, other) => created(other) - created(one));
  const pairs = Array.from({ length: MOST / 2 }, (_, place) => [earlier[place], later[place]]);
  return pairs.flat().filter((one) => one !== undefined);
}

const created = ({ time }: Session) => time?.created ?? 0;

async function all(client: Client): Promise<readonly Session[]> {
  const asked = await client._client?.get({ url: "/session", query: { limit: MOST_SESSIONS } });
  return (asked?.data as Session[] | undefined) ?? (await client.session.list()).data ?? [];
}

async function messages(client: Client, id: string): Promise<Entry[]> {
  return (await client.session.messages({ path: { id } })).data ?? [];
}

/** Whether these begin with what was copied: a copy has the same times, and each part is the same but for its id. */
function beginWith(originals: readonly Entry[], copied: readonly Entry[]): boolean {
  return (
    copied.length <= originals.length &&
    copied.every((copy, index) => {
      const original = originals[index];
      return original !== undefined && shape(copy) === shape(original);
    })
  );
}

function shape({ info, parts }: Entry): string {
  const shapes = parts.map(({ type, text, callID, tool }) => [type, text?.length ?? 0, callID ?? "", tool ?? ""]);
  return JSON.stringify([info.role, info.time?.created ?? 0, shapes]);
}
