/** One project of a harness, as the service knows it: what is reported of its sessions, and what is asked of them. */

import type { Breaker } from "./breaker.ts";
import { patience } from "./endpoint.ts";
import type { ClientManifest, Item, Plan, PlanStatus, ProjectSettingsReply } from "./language.ts";
import { inboundMessages } from "./pieces.ts";
import type { PlanInHand } from "./plan.ts";
import type { Service } from "./service.ts";
import { ask, inbound } from "./subjects.ts";

/** Milliseconds that a question may take where the options name no deadline. */
const DEADLINE = 250;
const BRIEF_DEADLINE = 150;
const SETTINGS_DEADLINE = 150;
const RESYNCS = 2;

/** A session that asks for a plan; `turn` is the person's newest message. */
export interface Asking {
  readonly id: string;
  readonly turn: string | undefined;
  readonly plan: PlanInHand;
  readonly breaker: Pick<Breaker, "allows" | "succeeded" | "failed">;
}

/** What a project needs of the service's connection. */
type Connection = Pick<Service, "log" | "options" | "identity"> & {
  outbox: Pick<Service["outbox"], "put">;
  broker: Pick<Service["broker"], "connected" | "request">;
};

export class Project {
  /** `breaker` is the process's own: it opens when nobody answers anybody. */
  constructor(
    readonly id: string,
    private readonly service: Connection,
    private readonly breaker: Pick<Breaker, "allows" | "isSilent" | "succeeded" | "failed">,
    private readonly notify: (notices: readonly string[]) => void,
  ) {}

  get isReachable(): boolean {
    return this.service.broker.connected && this.breaker.allows(Date.now());
  }

  /** Nobody has answered of late, whether or not it is time to ask again: a broker alone is no installation. */
  get isSilent(): boolean {
    return !this.service.broker.connected || this.breaker.isSilent;
  }

  /** Report items of a session. `name` makes the messages' ids: the same name again is taken once. */
  report(session: string, name: string, items: readonly Item[]): void {
    const { harness } = this.service.identity;
    const subject = inbound(harness, this.id, session);
    const made = inboundMessages(harness, subject, `${session}/${name}`, new Date(), items);
    for (const message of made) this.service.outbox.put(message);
  }

  /** The time, in terms of `performance.now`, until which a step may wait for its plan. */
  get deadline(): number {
    return performance.now() + this.patience(DEADLINE);
  }

  /**
   * Have the plan of a step in hand; whether it came in time. `open` reports the step and answers with its id; it is
   * called again, with `true`, where the service needs the whole list.
   */
  async plan(session: Asking, deadline: number, open: (isWhole: boolean) => string): Promise<boolean> {
    for (let attempt = 0; attempt <= RESYNCS; attempt += 1) {
      const step = open(attempt > 0);
      const status = await this.ask(session, step, deadline);
      if (status !== "resync") return status === "ready";
    }
    return false;
  }

  /** Ask for the plan, page by page, as long as there is time; without an answer the plan in hand is the plan. */
  private async ask(session: Asking, step: string, deadline: number): Promise<PlanStatus> {
    session.plan.asks(session.turn);
    for (;;) {
      const left = Math.floor(deadline - performance.now());
      const now = Date.now();
      const { broker } = this.service;
      if (left <= 0 || !broker.connected || !this.breaker.allows(now) || !session.breaker.allows(now)) return "late";
      const question = {
        project: this.id,
        session: session.id,
        step,
        base_revision: session.plan.base,
        deadline_ms: left,
      };
      try {
        const plan = await broker.request<Plan>(ask("transform", this.id), question, left);
        this.breaker.succeeded();
        if (plan.status === "ready") session.breaker.succeeded();
        else if (plan.status !== "resync") session.breaker.failed(Date.now());
        if (plan.status !== "ready") return plan.status;
        if (!session.plan.take(plan)) continue;
        this.notify(plan.notices ?? []);
        if (!plan.more) return "ready";
      } catch (error) {
        this.breaker.failed(Date.now());
        this.service.log.note("no plan in time", { session: session.id, error: String(error) });
        return "late";
      }
    }
  }

  /** What the harness's own summary of a session should carry on; empty where nobody answers in time. */
  async brief(session: string): Promise<string> {
    if (!this.service.broker.connected) return "";
    const question = { project: this.id, session };
    const patience = this.patience(BRIEF_DEADLINE);
    const reply = await this.service.log.guarded("asking for a brief", () =>
      this.service.broker.request<{ text?: string }>(ask("brief", this.id), question, patience),
    );
    return reply?.text ?? "";
  }

  /** The files whose texts are wanted of this project: its own, where it names some; of a service that says none, none. */
  async wanted(): Promise<Pick<ClientManifest, "documents" | "document_bytes"> | undefined> {
    if (!this.isReachable) return undefined;
    const reply = await this.service.log.guarded("asking for the project's settings", () =>
      this.service.broker.request<ProjectSettingsReply>(
        ask("settings", this.id),
        { project: this.id },
        this.patience(SETTINGS_DEADLINE),
      ),
    );
    if (!reply || reply.error || !reply.document_bytes) return undefined;
    return { documents: reply.documents ?? [], document_bytes: reply.document_bytes };
  }

  private patience(usual: number): number {
    const { options } = this.service;
    return options.deadline_ms ?? patience(options, usual);
  }
}
