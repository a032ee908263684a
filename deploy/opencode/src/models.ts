/** What OpenCode knows of its models: limits, and how their providers behave. */

import type { Capability } from "@annals/adapter-core/language";
import { type Facts, modelKey } from "@annals/adapter-core/models";
import { type Client, type Model, wordsOf } from "./harness.ts";

const BY_PACKAGE: Record<string, Capability[]> = {
  "@ai-sdk/anthropic": ["binds_signed_thinking", "merges_adjacent_assistants", "caches_exact_prefix"],
  "@ai-sdk/google-vertex/anthropic": ["binds_signed_thinking", "merges_adjacent_assistants", "caches_exact_prefix"],
  "@ai-sdk/amazon-bedrock": ["binds_signed_thinking", "merges_adjacent_assistants", "caches_exact_prefix"],
  "@ai-sdk/google": ["merges_adjacent_assistants", "caches_exact_prefix"],
  "@ai-sdk/openai": ["accepts_empty_content", "caches_exact_prefix"],
  "@ai-sdk/openai-compatible": ["accepts_empty_content", "caches_exact_prefix"],
};
const UNKNOWN: Capability[] = ["binds_signed_thinking", "caches_exact_prefix"]; // the careful answer

/** All models that OpenCode lists. */
export async function knownModels(client: Client): Promise<[string, Facts][]> {
  const { data, error } = await client.config.providers();
  if (error) throw new Error(wordsOf(error));
  return (data?.providers ?? []).flatMap((provider) =>
    Object.entries(provider.models ?? {}).map(([id, model]): [string, Facts] => [
      modelKey(provider.id, id),
      factsOf(model, provider.npm),
    ]),
  );
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
