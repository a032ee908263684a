/** Forks: OpenCode copies a session's messages under new ids and does not tell from where. */

import type { Client, Entry, Session } from "./harness.ts";

const TITLE = /^(.+) \(fork #(\d+)\)$/;
/** The most sessions of the same name that are compared. */
const MOST = 5;

/** Whether a session looks like a copy. */
export const isFork = (session: Session) => TITLE.test(session.title ?? "") && !session.parentID;

export interface Origin {
  forked_from: string;
  forked_at?: string;
}

/**
 * The session that this one was copied from, found by name and by the times of its messages. Of several that it may be
 * a copy of, one that has made a call comes first: only that one has something to pass on.
 */
export async function originOf(
  fork: Session,
  client: Client,
  hasCalled: (id: string) => boolean,
): Promise<Origin | undefined> {
  const copied = await messages(client, fork.id);
  if (copied.length === 0) return undefined;
  const { data: sessions = [] } = await client.session.list();
  const title = fork.title ?? "";
  const [, name = "", number = "1"] = TITLE.exec(title) ?? [];
  const before = [name, `${name} (fork #${Number(number) - 1})`];
  const alike = sessions.filter(({ id, title: other = "" }) => id !== fork.id && before.includes(other));
  alike.sort((one, other) => Number(hasCalled(other.id)) - Number(hasCalled(one.id)));
  for (const one of alike.slice(0, MOST)) {
    const originals = await messages(client, one.id);
    if (isCopy(copied, originals)) {
      const last = originals[copied.length - 1];
      return { forked_from: one.id, ...(last && copied.length < originals.length ? { forked_at: last.info.id } : {}) };
    }
  }
  return undefined;
}

async function messages(client: Client, id: string): Promise<Entry[]> {
  return (await client.session.messages({ path: { id } })).data ?? [];
}

/** Copies keep the time of their creation. */
function isCopy(copied: readonly Entry[], originals: readonly Entry[]): boolean {
  return (
    copied.length <= originals.length &&
    copied.every(({ info }, index) => {
      const original = originals[index]?.info;
      return info.role === original?.role && info.time?.created === original.time?.created;
    })
  );
}
