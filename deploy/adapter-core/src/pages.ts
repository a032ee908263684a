/** What of a plan that comes in pages takes force: a rebase not before all of it is there. Pure. */

import type { Plan, Revision } from "./language.ts";

/** `whole` takes force, `coming` waits for the pages behind it. */
export interface Taken {
  whole: Revision[];
  coming: Revision[];
}

/** What waits already, with one more page. Half a rebase would tear what it changes, so all of it waits for its end. */
export function taken(coming: readonly Revision[], { revisions = [], more = false }: Plan): Taken {
  if (revisions.length === 0) return { whole: [], coming: [] }; // no page more, though one was due: it came too late
  const all = [...coming, ...revisions];
  const end = more ? all.findLastIndex((revision) => !isRebase(revision)) + 1 : all.length;
  return { whole: all.slice(0, end), coming: all.slice(end) };
}

const isRebase = ({ causes = [] }: Revision) => causes.length > 0;
