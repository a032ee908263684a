/** Waiting, without keeping a process alive that has nothing else to do. */

export function unreferenced(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds).unref());
}

/** Let whatever waits for this process have its turn. */
export const breath = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** Wait for all of these, but not longer than this. What fails is not reported: whoever waits goes on without it. */
export async function within(milliseconds: number, work: (Promise<unknown> | undefined)[]): Promise<void> {
  await Promise.race([Promise.allSettled(work), unreferenced(milliseconds)]);
}
