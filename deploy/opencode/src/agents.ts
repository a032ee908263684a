/** What the harness knows of its agents: whose prompts are whose, and what each may use. */

import { type Agent, type Client, type Rule, wordsOf } from "./harness.ts";
import { isHelperAgent, rulesOf } from "./rules.ts";

export class Agents {
  private known: ReadonlyMap<string, Agent> = new Map();

  async load(client: Client): Promise<void> {
    const { data = [], error } = (await client.app?.agents()) ?? {};
    if (error) throw new Error(wordsOf(error));
    this.known = new Map(data.map((agent) => [agent.name, agent]));
  }

  get all(): Iterable<Agent> {
    return this.known.values();
  }

  isHelper(name: string): boolean {
    return isHelperAgent(name, this.known.get(name));
  }

  /** The agent's system prompt; empty as long as it is not known. */
  prompt(name: string): string {
    return this.known.get(name)?.prompt ?? "";
  }

  /** The rules about its tools, the settings' own first. */
  rules(name: string): readonly Rule[] {
    return rulesOf(this.known.get(name)?.permission);
  }
}
