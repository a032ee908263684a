/** One project of the harness: what it says to the service, and what it serves. */

import { createHash, randomUUID } from "node:crypto";
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { Agents } from "./agents.ts";
import { Documents } from "./documents.ts";
import { isFork, type Origin, originOf } from "./forks.ts";
import type { BusEvent, Client, Entry, Info, PluginInput, Session as Seen } from "./harness.ts";
import { History } from "./history.ts";
import { Kept } from "./kept.ts";
import { type Guide, HARNESS, type Item, type Mode, type Plan, type StepSeen } from "./language.ts";
import { Models } from "./models.ts";
import * as modes from "./modes.ts";
import { letters } from "./pieces.ts";
import { rivalOf } from "./rivals.ts";
import type { Service } from "./service.ts";
import { Session } from "./session.ts";
import { ask, inbound } from "./subjects.ts";
import * as system from "./system.ts";
import { Toolset } from "./toolset.ts";
import * as translate from "./translate.ts";

const DEADLINE = 250;
const RESYNCS = 2;
const BRIEF_DEADLINE = 150;
/** Milliseconds that a new turn may wait for what the harness knows of its models and of a fork. */
const PATIENCE = 1500;

export class Adapter {
  readonly project: string;
  readonly toolset = new Toolset();
  private readonly sessions = new Map<string, Session>();
  private readonly held = new Map<string, { event: BusEvent; items: Item[] }[]>();
  /** Sessions that an agent's call has started. */
  private readonly delegated = new Set<string>();
  private readonly agents = new Agents();
  private readonly models: Models;
  private readonly history: History;
  private readonly documents: Documents;
  private readonly place: { root: string; vcs: string };
  private readonly client: Client;
  private readonly breaker;
  private modelsLoaded: Promise<void> | undefined;
  private agentsLoaded: Promise<void> | undefined;
  /** A plugin that changes the same prompts; empty: there is none. */
  private rival = "";
  private isRivalTold = false;

  constructor(
    readonly service: Service,
    private readonly guide: Guide,
    input: PluginInput,
    private readonly build: { version: string; digest: string },
    breaker: { allows(now: number): boolean; succeeded(): void; failed(now: number): void },
  ) {
    this.client = input.client;
    this.history = new History(this.client);
    this.breaker = breaker;
    const root = input.worktree && input.worktree !== "/" ? input.worktree : input.directory;
    this.place = { root, vcs: input.project?.vcs ?? "" };
    this.project = projectOf(input.project?.id, root);
    this.documents = new Documents(root, service.log);
    this.models = new Models(join(service.directory, "models.json"));
  }

  session(id: string): Session {
    const known = this.sessions.get(id);
    if (known) return known;
    const kept = new Kept(this.service.directory, id, this.service.log);
    const session: Session = new Session(id, kept, (info) => this.isAside(session, info));
    this.sessions.set(id, session);
    return session;
  }

  /** Something happened in the harness. */
  hear(event: BusEvent): void {
    const properties = event.properties ?? {};
    const id = properties.sessionID;
    if (!id) return;
    if (!this.sessions.has(id) && !STARTS.has(event.type)) return;
    const session = this.session(id);
    switch (event.type) {
      case "session.deleted":
        this.deleted(session, event);
        break;
      case "session.created":
      case "session.updated":
        this.hearSession(session, event, properties.info as Seen);
        break;
      default:
        this.hearContent(session, event);
    }
  }

  private hearContent(session: Session, event: BusEvent): void {
    const child = event.properties?.part?.state?.metadata?.sessionId;
    if (typeof child === "string") this.delegated.add(child);
    const items = session.hear(event);
    if (event.id && items.length > 0) session.recent.add(event.id);
    this.say(session, event, items);
    if (event.type === "session.idle") session.isBusy = false;
    if (event.type === "session.idle") void this.service.log.guarded("resting", () => this.rest(session));
  }

  private hearSession(session: Session, event: BusEvent, seen: Seen): void {
    const isNew = event.type === "session.created";
    session.seen = seen;
    if (isNew) session.isFollowed = true;
    if (isNew && isFork(seen)) this.held.set(session.id, []);
    if (session.isIntroduced && seen.title === session.title) return;
    if (!isNew && !session.isIntroduced) return; // the next turn introduces it with all that is known of it then
    session.title = seen.title ?? "";
    this.say(session, event, this.introduction(session, seen));
  }

  private introduction(session: Session, seen: Seen, origin?: Origin): Item[] {
    const items: Item[] = [];
    if (!session.isIntroduced) {
      session.isIntroduced = true;
      const { version, digest } = this.build;
      items.push({ kind: "adapter.seen", name: HARNESS, version, harness_version: seen.version ?? "", digest });
    }
    const told = translate.session(seen, this.place, this.isHelpers(session, seen.agent ?? ""));
    return [...items, { ...told, ...origin } as Item];
  }

  private deleted(session: Session, event: BusEvent): void {
    this.say(session, event, [{ kind: "session.closed", reason: "deleted" }]);
    session.kept.forget();
    this.sessions.delete(session.id);
    this.delegated.delete(session.id);
    this.held.delete(session.id);
  }

  /** Publish items under the event's own id: hooks and event log may tell the same twice, the service takes it once. */
  private say(session: Session, event: BusEvent, items: Item[]): void {
    if (items.length === 0) return;
    const held = this.held.get(session.id);
    if (held) held.push({ event, items });
    else this.publish(session, event.id ?? randomUUID(), items);
  }

  private publish(session: Session, name: string, items: Item[]): void {
    const subject = inbound(HARNESS, this.project, session.id);
    for (const letter of letters(subject, `${session.id}/${name}`, new Date(), items)) this.service.outbox.put(letter);
  }

  /** Learn in the background what the first step will need; the harness cannot answer before its plugins are loaded. */
  warmUp(): void {
    this.modelsLoaded ??= this.models.load(this.client);
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

  /** The plugins that the harness has loaded. */
  meet(plugins: unknown): void {
    this.rival = rivalOf(plugins);
    if (this.rival) this.service.log.note("another plugin changes the same prompts", { plugin: this.rival });
  }

  /** A person's message is about to start a turn: have at hand what the step will need. */
  async prepare(id: string): Promise<void> {
    const session = this.session(id);
    this.warmUp();
    await within(PATIENCE, [
      this.modelsLoaded,
      this.agentsLoaded,
      session.seen ? undefined : this.learn(session),
      this.held.has(id) ? this.release(session) : undefined,
      this.service.log.guarded("telling documents", () => this.tellDocuments(session)),
    ]);
    this.introduce(session);
    if (session.kept.isKnown && !session.isFollowed) void this.service.log.guarded("filling", () => this.fill(session));
  }

  private async learn(session: Session): Promise<void> {
    const { data } = await this.client.session.get({ path: { id: session.id } });
    if (!data) return;
    session.seen = data;
  }

  private introduce(session: Session): void {
    if (session.isIntroduced || !session.seen) return;
    session.title = session.seen.title ?? "";
    this.publish(session, `introduction/${randomUUID()}`, this.introduction(session, session.seen));
  }

  /** Say of a fork what was held back, with its origin first. */
  private async release(session: Session): Promise<void> {
    const origin = session.seen && (await originOf(session.seen, this.client));
    const held = this.held.get(session.id) ?? [];
    this.held.delete(session.id);
    for (const { event, items } of held) {
      const told = items.map((item) => (item.kind === "session.seen" ? ({ ...item, ...origin } as Item) : item));
      this.publish(session, event.id ?? randomUUID(), told);
    }
  }

  private async tellDocuments(session: Session): Promise<void> {
    const items = await this.documents.changes(this.service.guide);
    if (items.length > 0) this.publish(session, `documents/${randomUUID()}`, items);
  }

  /** The turn is over: compare with the event log, and have the answer to a compaction ready. */
  private async rest(session: Session): Promise<void> {
    await this.fill(session);
    await this.tellDocuments(session);
    session.brief = (await this.brief(session)) || session.brief;
  }

  /** Tell what the harness's event log has and nobody told: from before this adapter, or from while it was away. */
  async fill(session: Session): Promise<void> {
    const before = session.kept.seq;
    const { events, seq } = await this.history.after(session.id, before);
    for (const event of events) {
      if (session.recent.has(event.id ?? "")) continue;
      this.say(session, event, session.hear(event, true));
    }
    session.recent.clear();
    session.isFollowed = true;
    if (seq > before) session.kept.note({ seq, told: session.newest || session.kept.told });
  }

  /** The messages of the next model call, as they are served. */
  async serve(entries: Entry[]): Promise<Entry[]> {
    const session = this.session(entries[0]?.info.sessionID ?? "");
    session.isBusy = true;
    session.isRebased = false;
    if (session.isCompacting) {
      session.isCompacting = false;
      return session.serve(entries);
    }
    session.summarized();
    session.user = entries.findLast((entry) => entry.info.role === "user")?.info;
    if (this.isAside(session, session.user)) return session.serve(entries);
    this.warn();
    const deadline = performance.now() + (this.service.options.deadline_ms ?? DEADLINE);
    this.introduce(session);
    await this.step(session, entries, deadline);
    return session.serve(entries);
  }

  private async step(session: Session, entries: Entry[], deadline: number): Promise<void> {
    for (let attempt = 0; attempt <= RESYNCS; attempt += 1) {
      const step = this.tell(session, entries, attempt > 0);
      const status = await this.ask(session, step, deadline);
      if (status !== "resync") return;
    }
  }

  private tell(session: Session, entries: Entry[], isWhole: boolean): string {
    const step = randomUUID();
    const { items, message } = session.open(step, entries, this.details(session), isWhole);
    const tools = this.toolset.item();
    if (tools && tools.digest !== session.toolset) {
      session.toolset = tools.digest;
      items.unshift(tools);
    }
    this.publish(session, `step/${step}`, [...items, message]);
    return step;
  }

  private details(session: Session): Partial<StepSeen> {
    const { user } = session;
    const { providerID = "", modelID = "", variant } = user?.model ?? {};
    return {
      agent: user?.agent ?? "",
      mode: this.modeOf(session),
      provider: providerID,
      model: modelID,
      ...this.models.of(providerID, modelID),
      system_digest: session.systems.get(systemKey(user)) ?? "",
      toolset: this.toolset.item()?.digest ?? "",
      denied: this.denied(session, this.toolset.names),
      variant: variant ?? "",
    };
  }

  /** The session's mode: decided at its first step from who started it and from the tools that it may use, and kept. */
  private modeOf(session: Session): Mode {
    const { kept, seen } = session;
    const mode = modes.learned(kept.mode || this.decidedMode(session), seen?.parentID !== undefined);
    if (kept.mode === "") kept.note({ mode });
    else if (mode !== kept.mode) kept.note({ mode, guidance: kept.guidance || kept.mode });
    return mode;
  }

  private decidedMode(session: Session): Mode {
    const offers = this.guide.tools?.some(({ name }) => name === modes.REDUCE) ?? false;
    return modes.decided({
      hasRival: this.service.options.compaction === "observe" || this.rival !== "",
      isChild: session.seen?.parentID !== undefined,
      reduces: offers && !this.denied(session, [modes.REDUCE]).includes(modes.REDUCE),
    });
  }

  /** The mode whose guidance the session has: like the date, it changes only with a rebase. */
  private guidanceOf(session: Session): Mode {
    const { kept, isRebased } = session;
    const mode = this.modeOf(session);
    const guidance = kept.guidance === "" || isRebased ? mode : kept.guidance;
    if (guidance !== kept.guidance) kept.note({ guidance });
    return guidance;
  }

  /** Of these tools, those that the session's calls do not offer. */
  private denied(session: Session, tools: readonly string[]): string[] {
    const rules = [...this.agents.rules(session.user?.agent ?? ""), ...modes.rulesOf(session.seen?.permission)];
    return modes.denied(tools, session.user?.tools, rules);
  }

  /** Whether a call is none of the session's own: a helper's, or of an agent that is to be left alone. */
  private isAside(session: Session, info: Info | undefined): boolean {
    const name = info?.agent ?? info?.mode ?? "";
    return (
      info?.summary === true ||
      session.asides.has(systemKey(info)) ||
      this.isHelpers(session, name) ||
      system.isHelper([this.agents.prompt(name), info?.system ?? ""], this.guide)
    );
  }

  private isHelpers(session: Session, agent: string): boolean {
    const isWork = this.delegated.has(session.id) || (session.seen !== undefined && modes.isDelegated(session.seen));
    return this.agents.isHelper(agent) && !isWork;
  }

  /** Say, once, that two plugins change the same prompts. */
  private warn(): void {
    if (!this.rival || this.isRivalTold) return;
    this.isRivalTold = true;
    this.notify([
      `${this.rival} changes the same prompts as Annals. Annals leaves those of new sessions as they are; ` +
        "`annals doctor` says what to do.",
    ]);
  }

  /** Ask for the plan, page by page, as long as there is time; without an answer the plan in hand is the plan. */
  private async ask(session: Session, step: string, deadline: number): Promise<Plan["status"]> {
    session.asks();
    for (;;) {
      const left = Math.floor(deadline - performance.now());
      const now = Date.now();
      const { broker } = this.service;
      if (left <= 0 || !broker.connected || !this.breaker.allows(now) || !session.breaker.allows(now)) return "late";
      const question = {
        project: this.project,
        session: session.id,
        step,
        base_revision: session.base,
        deadline_ms: left,
      };
      try {
        const plan = await broker.request<Plan>(ask("transform", this.project), question, left);
        this.breaker.succeeded();
        if (plan.status === "ready") session.breaker.succeeded();
        else if (plan.status !== "resync") session.breaker.failed(Date.now());
        if (plan.status !== "ready") return plan.status;
        session.take(plan);
        this.notify(plan.notices ?? []);
        if (!plan.more) return "ready";
      } catch (error) {
        this.breaker.failed(Date.now());
        this.service.log.note("no plan in time", { session: session.id, error: String(error) });
        return "late";
      }
    }
  }

  /** Show a text to the person, in the session; the model never sees it. */
  async show(id: string, text: string): Promise<void> {
    const session = this.session(id);
    if (session.isBusy) return this.notify([text]); // a message would become the one that the model answers
    const { agent, model } = session.user ?? {};
    const parts = [{ type: "text", text, ignored: true }];
    await this.client.session.prompt({ path: { id }, body: { noReply: true, parts, agent, model } });
  }

  private notify(notices: readonly string[]): void {
    for (const message of notices) {
      void this.service.log.guarded("showing a notice", () =>
        this.client.tui?.showToast({ body: { message, variant: "info" } }),
      );
    }
  }

  /** The system prompt as it is sent, and its digest for the next step. */
  adjustSystem(id: string, entries: string[]): string[] {
    const { guide } = this;
    const session = this.session(id);
    const { user } = session;
    if (!user || session.isSummarizing) return entries; // a call of the session's own comes behind its messages
    if (modes.isHelperPrompt(entries, this.agents.all, user.agent ?? "")) return entries;
    const date = system.dateOf(entries, guide);
    if (system.isHelper(entries, guide)) {
      if (date) session.asides.add(systemKey(user)); // a helper's prompt has no date: the session's own agent is marked
      return entries;
    }
    if (this.isAside(session, user)) return entries;
    if (date && (session.kept.date === "" || session.isRebased)) session.kept.note({ date });
    const adjusted = system.adjusted(entries, guide, this.guidanceOf(session), session.kept.date);
    session.systems.set(systemKey(user), system.digestOf(adjusted, guide));
    return adjusted;
  }

  /** What the harness's own summary should know. Asked for now; if that takes too long, as of the last rest. */
  async compaction(id: string): Promise<string> {
    const session = this.session(id);
    session.isCompacting = true;
    session.isSummarizing = true;
    return (await this.brief(session)) || session.brief;
  }

  private async brief(session: Session): Promise<string> {
    if (!this.service.broker.connected) return "";
    const question = { project: this.project, session: session.id };
    const reply = await this.service.log.guarded("asking for a brief", () =>
      this.service.broker.request<{ text?: string }>(ask("brief", this.project), question, BRIEF_DEADLINE),
    );
    return reply?.text ?? "";
  }
}

const STARTS = new Set([
  "session.created",
  "session.updated",
  "message.updated",
  "message.part.updated",
  "session.idle",
]);

/** Names the system prompt of a message's calls: of the person's, and of the agent's answer to it. */
function systemKey(info: Info | undefined): string {
  const { providerID = "", modelID = "" } = (info?.role === "user" ? info.model : info) ?? {};
  return `${info?.agent ?? ""}|${providerID}/${modelID}`;
}

/** The project's identity: of a repository its first commit, which OpenCode names it by; else its directory. */
function projectOf(id: string | undefined, root: string): string {
  if (id && id !== "global") return `git-${id}`;
  return `dir-${createHash("sha256").update(realpathSync(root)).digest("hex").slice(0, 12)}`;
}

/** Wait for all of these, but not longer than this; what fails is told to nobody, since the step does without. */
async function within(milliseconds: number, work: (Promise<unknown> | undefined)[]): Promise<void> {
  const timer = new Promise((resolve) => setTimeout(resolve, milliseconds).unref());
  await Promise.race([Promise.allSettled(work), timer]);
}
