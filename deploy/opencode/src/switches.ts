/** OpenCode's own compaction, which it switches by its configuration and reads anew before each decision. Pure. */

/** OpenCode's switches. */
export interface Switches {
  auto?: boolean;
  prune?: boolean;
}

/** The switches as the person has set them while OpenCode may compact, and off while it may not. */
export function governed<T extends Switches>(own: T | undefined, may: () => boolean): T {
  const { auto = true, prune = false, ...rest } = own ?? ({} as T);
  const chosen = { auto, prune };
  const live = (name: keyof typeof chosen) => ({
    enumerable: true,
    configurable: true,
    get: () => chosen[name] && may(),
    set: (value: boolean) => {
      chosen[name] = value;
    },
  });
  return Object.defineProperties(rest, { auto: live("auto"), prune: live("prune") }) as T;
}
