/** The tools that a model is offered, as the harness defines them before each call. */

import { createHash } from "node:crypto";
import type { Item } from "./language.ts";

interface Definition {
  description?: string;
  parameters?: unknown;
  jsonSchema?: unknown;
}

export class Toolset {
  private readonly tools = new Map<string, { description: string; schema: unknown }>();
  private told: Extract<Item, { kind: "tools.seen" }> | undefined;

  see(name: string, { description = "", parameters, jsonSchema }: Definition): void {
    const schema = jsonSchema ?? parameters;
    const known = this.tools.get(name);
    if (known?.description === description && known.schema === schema) return;
    if (known?.description === description && JSON.stringify(known.schema) === JSON.stringify(schema)) return;
    this.tools.set(name, { description, schema });
    this.told = undefined;
  }

  get names(): string[] {
    return [...this.tools.keys()].sort();
  }

  /** All of them; undefined before the first call. */
  item(): Extract<Item, { kind: "tools.seen" }> | undefined {
    if (this.tools.size === 0) return undefined;
    this.told ??= told(this.tools);
    return this.told;
  }
}

function told(definitions: ReadonlyMap<string, { description: string; schema: unknown }>) {
  const tools = [...definitions]
    .map(([name, { description, schema }]) => ({ name, description, parameters: JSON.stringify(schema ?? {}) }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
  const digest = createHash("sha256").update(JSON.stringify(tools)).digest("hex");
  return { kind: "tools.seen" as const, digest, tools };
}
