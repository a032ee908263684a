/** Models' limits, and how their providers behave. Cached, since the first call may come too early to ask. */

import { readOwn, writeOwn } from "./files.ts";
import type { Capability } from "./language.ts";

export interface Facts {
  /** Tokens that the model takes in, and that it answers with; 0: not known. */
  context_limit: number;
  output_limit: number;
  capabilities: Capability[];
}

export class ModelFacts {
  private facts = new Map<string, Facts>();

  /** `path` is the file that keeps what was learned. */
  constructor(private readonly path: string) {
    try {
      this.facts = new Map(Object.entries(JSON.parse(readOwn(path)) as Record<string, Facts>));
    } catch {
      // nothing has been learned yet
    }
  }

  /** Learn what the harness knows, by `modelKey`; a model that it does not list keeps its facts. */
  learn(facts: Iterable<[string, Facts]>): void {
    for (const [key, one] of facts) this.facts.set(key, one);
    writeOwn(this.path, JSON.stringify(Object.fromEntries(this.facts)));
  }

  of(provider: string, model: string): Partial<Facts> {
    return this.facts.get(modelKey(provider, model)) ?? {};
  }
}

export const modelKey = (provider: string, model: string) => `${provider}/${model}`;
