/** The tools that a model is offered, as the harness defines them before each call. */

import { createHash } from "node:crypto";
import type { ToolsSeen } from "./language.ts";
import { wellFormed } from "./texts.ts";

/** A tool as a model is offered it; `schema` is the JSON Schema of its arguments. */
interface Definition {
  description: string;
  schema: unknown;
}

export class Toolset {
  private readonly tools = new Map<string, Definition>();
  private latest: ToolsSeen | undefined;

  see(name: string, { description, schema }: Definition): void {
    const known = this.tools.get(name);
    if (known?.description === description && known.schema === schema) return;
    if (known?.description === description && JSON.stringify(known.schema) === JSON.stringify(schema)) return;
    this.tools.set(name, { description, schema });
    this.latest = undefined;
  }

  get names(): string[] {
    return [...this.tools.keys()].sort();
  }

  /** All of them; undefined before the first call. */
  item(): ToolsSeen | undefined {
    if (this.tools.size === 0) return undefined;
    this.latest ??= toolsSeen(this.tools);
    return this.latest;
  }
}

function toolsSeen(definitions: ReadonlyMap<string, Definition>) {
  const tools = [...definitions]
    .map(([name, { description, schema }]) => ({
      name,
      description,
      parameters: JSON.stringify(wellFormed(schema ?? {})),
    }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
  const digest = createHash("sha256").update(JSON.stringify(tools)).digest("hex");
  return { kind: "tools.seen" as const, digest, tools };
}
