/** What the harness knows of its models: limits, and how their providers behave. */

import { readFileSync, renameSync, writeFileSync } from "node:fs";
import type { Client, Model } from "./harness.ts";

export interface Facts {
  context_limit: number;
  output_limit: number;
  capabilities: string[];
}

const BY_PACKAGE: Record<string, string[]> = {
  "@ai-sdk/anthropic": ["binds_signed_thinking", "merges_adjacent_assistants", "caches_exact_prefix"],
  "@ai-sdk/google-vertex/anthropic": ["binds_signed_thinking", "merges_adjacent_assistants", "caches_exact_prefix"],
  "@ai-sdk/amazon-bedrock": ["binds_signed_thinking", "merges_adjacent_assistants", "caches_exact_prefix"],
  "@ai-sdk/google": ["merges_adjacent_assistants", "caches_exact_prefix"],
  "@ai-sdk/openai": ["accepts_empty_content", "caches_exact_prefix"],
  "@ai-sdk/openai-compatible": ["accepts_empty_content", "caches_exact_prefix"],
};
const UNKNOWN: string[] = ["binds_signed_thinking", "caches_exact_prefix"]; // the careful answer

export class Models {
  private facts = new Map<string, Facts>();

  /** `path` keeps what was learned, since the first call may come before the harness can be asked. */
  constructor(private readonly path: string) {
    try {
      this.facts = new Map(Object.entries(JSON.parse(readFileSync(path, "utf8")) as Record<string, Facts>));
    } catch {
      // nothing has been learned yet
    }
  }

  /** Ask the harness; a model that it does not list has no facts. */
  async load(client: Client): Promise<void> {
    const { data } = await client.config.providers();
    for (const provider of data?.providers ?? []) {
      for (const [id, model] of Object.entries(provider.models ?? {})) {
        this.facts.set(`${provider.id}/${id}`, factsOf(model, provider.npm));
      }
    }
    writeFileSync(`${this.path}.draft`, JSON.stringify(Object.fromEntries(this.facts)), { mode: 0o600 });
    renameSync(`${this.path}.draft`, this.path);
  }

  of(provider: string, model: string): Partial<Facts> {
    return this.facts.get(`${provider}/${model}`) ?? {};
  }
}

function factsOf(model: Model, npm: string | undefined): Facts {
  const known = BY_PACKAGE[model.api?.npm ?? model.provider?.npm ?? npm ?? ""] ?? UNKNOWN;
  const interleaved = model.interleaved ?? model.capabilities?.interleaved;
  const thinks = typeof interleaved === "object" && interleaved !== null;
  return {
    context_limit: model.limit?.context ?? 0,
    output_limit: model.limit?.output ?? 0,
    capabilities: thinks ? [...known, "requires_reasoning_on_tool_calls"] : known,
  };
}
