/** What OpenCode knows and a step needs: its models and its agents. */

import { join } from "node:path";
import { ModelFacts } from "@annals/adapter-core/models";
import type { Service } from "@annals/adapter-core/service";
import { Agents } from "./agents.ts";
import type { Client } from "./harness.ts";
import { knownModels } from "./models.ts";

export class Known {
  readonly agents = new Agents();
  readonly models: ModelFacts;
  private modelsLoaded: Promise<void> | undefined;
  private agentsLoaded: Promise<void> | undefined;

  constructor(
    private readonly client: Client,
    private readonly service: Pick<Service, "directory" | "log">,
  ) {
    this.models = new ModelFacts(join(service.directory, "models.json"));
  }

  /** Learn it in the background, unless it is known; OpenCode cannot answer before its plugins are loaded. */
  load(): void {
    this.modelsLoaded ??= knownModels(this.client).then((known) => this.models.learn(known));
    this.modelsLoaded.catch((error) => {
      this.service.log.note("models are not known yet", { error: String(error) });
      this.modelsLoaded = undefined;
    });
    this.agentsLoaded ??= this.agents.load(this.client);
    this.agentsLoaded.catch((error) => {
      this.service.log.note("agents are not known yet", { error: String(error) });
      this.agentsLoaded = undefined;
    });
  }

  /** Settles when what is being learned is known, or turned out not to be. */
  get loaded(): Promise<unknown> {
    return Promise.allSettled([this.modelsLoaded, this.agentsLoaded]);
  }
}
