/** One project of OpenCode: what it reports to the service, and what it serves. */

import { randomUUID } from "node:crypto";
import type { Breaker } from "@annals/adapter-core/breaker";
import { additionTo } from "@annals/adapter-core/calls";
import { type ContextKeeper, type HandOver, mayCompact, type Notify } from "@annals/adapter-core/compaction";
import { Documents } from "@annals/adapter-core/documents";
import { patience } from "@annals/adapter-core/endpoint";
import type { Identity, Workplace } from "@annals/adapter-core/identity";
import type { ClientManifest, Item, Line, StepSeen } from "@annals/adapter-core/language";
import { Project } from "@annals/adapter-core/project";
import { SessionRecord } from "@annals/adapter-core/record";
import type { Service } from "@annals/adapter-core/service";
import { within } from "@annals/adapter-core/timers";
import { Toolset } from "@annals/adapter-core/toolset";
import { Asides, systemKey } from "./asides.ts";
import { Copies } from "./copies.ts";
import type { Origin } from "./forks.ts";
import type { BusEvent, Client, Entry, Part, PluginInput, Session as Seen } from "./harness.ts";
import { STARTS } from "./heard.ts";
import { History } from "./history.ts";
import { Known } from "./known.ts";
import { Person } from "./person.ts";
import { Prompts } from "./prompts.ts";
import { rivalOf } from "./rivals.ts";
import { Session } from "./session.ts";
import { governed, type Switches } from "./switches.ts";
import * as translate from "./translate.ts";

/** Milliseconds that a new turn may wait for what OpenCode knows of its models and of a fork. */
const PATIENCE = 1500;
/** Milliseconds that a call waits for OpenCode's reply about messages that no event reported. */
const LOOK_UP = 200;

/** Where a session of this input works. */
export function workplace({ directory, worktree }: PluginInput): Workplace {
  return { directory, root: worktree && worktree !== "/" ? worktree : directory };
}

export class Adapter {
  private readonly projects = new Map<string, Project>();
  readonly toolset = new Toolset();
  private readonly sessions = new Map<string, Session>();
  readonly known: Known;
  private readonly asides: Asides;
  private readonly copies: Copies;
  private readonly prompts: Prompts;
  private readonly person: Person;
  private readonly history: History;
  private readonly documents: Documents;
  /** Project -> the files that are wanted of it, as last reported. */
  private readonly wanted = new Map<string, Pick<ClientManifest, "documents" | "document_bytes">>();
  private readonly notify: Notify;
  private readonly place: translate.Place;
  private readonly client: Client;
  /** A plugin that changes the same prompts; empty: there is none. */
  private rival = "";
  /** OpenCode compacts a session that fills the window, where no person has switched that off. */
  private compacts = true;

  constructor(
    readonly service: Service,
    guide: ClientManifest,
    input: PluginInput,
    private readonly build: { version: string; digest: string },
    private readonly breaker: Pick<Breaker, "allows" | "isSilent" | "succeeded" | "failed">,
    private readonly handOver: HandOver,
    private readonly identity: Identity,
  ) {
    this.client = input.client;
    this.history = new History(this.client);
    this.person = new Person(this.client, service.log);
    this.notify = (notices) => this.person.notify(notices);
    const { root } = workplace(input);
    const { home, former } = identity;
    this.place = { root, vcs: identity.vcs || (input.project?.vcs ?? ""), home, former: [...former] };
    this.documents = new Documents(root, service.log);
    this.known = new Known(this.client, service);
    this.asides = new Asides(this.known.agents, guide);
    const hasRival = () => this.compactionMode === "observe" || this.rival !== "";
    this.prompts = new Prompts(this.known.agents, this.asides, guide, hasRival);
    this.copies = new Copies(
      this.client,
      service.log,
      (other) => this.session(other),
      (session, event, items) => this.projectOf(session).report(session.id, event.id ?? randomUUID(), items),
    );
  }

  /** The project that new sessions begin in. */
  private get project(): Project {
    return this.called(this.identity.id);
  }

  /** The project of a session: the one that it began in, whatever its directory is called by now. */
  projectOf(session: Session): Project {
    const { record } = session;
    if (!record.project) record.place(this.beginsIn(session));
    return this.called(record.project);
  }

  /** A sub-agent works where its agent does. A session of a release that stored no project with it began before now. */
  private beginsIn({ seen, record }: Session): string {
    const { id, former } = this.identity;
    if (record.isKnown) return former[0] ?? id;
    return seen?.parentID ? this.projectOf(this.session(seen.parentID)).id : id;
  }

  private called(id: string): Project {
    const known = this.projects.get(id) ?? new Project(id, this.service, this.breaker, this.notify);
    this.projects.set(id, known);
    return known;
  }

  private get compactionMode() {
    return this.service.options.compaction ?? "managed";
  }

  session(id: string): Session {
    const known = this.sessions.get(id);
    if (known) return known;
    const record = new SessionRecord(this.service.directory, id, this.service.log);
    const session: Session = new Session(
      id,
      record,
      (info) => this.asides.has(session, info),
      this.client,
      this.service.log,
    );
    this.sessions.set(id, session);
    return session;
  }

  /** Something happened in OpenCode. */
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
    if (typeof child === "string") this.asides.delegate(child);
    const items = session.hear(event);
    this.report(session, event, items);
    if (event.properties?.status?.type === "busy") this.begin(session);
    if (event.type === "session.idle") {
      session.keeper.phase = "resting";
      void this.service.log.guarded("resting", () => this.rest(session));
    }
  }

  private hearSession(session: Session, event: BusEvent, seen: Seen): void {
    const isNew = event.type === "session.created";
    session.seen = seen;
    if (isNew) {
      session.isFollowed = true;
      this.copies.begin(session);
    }
    if (session.isIntroduced && seen.title === session.title) return;
    if (!isNew && !session.isIntroduced) return; // the next turn introduces it with all that is known of it then
    session.title = seen.title ?? "";
    this.report(session, event, this.introduction(session, seen));
  }

  private introduction(session: Session, seen: Seen, origin?: Origin): Item[] {
    const isHelpers = this.asides.isHelpers(session, seen.agent ?? "");
    return session.introduction(translate.adapter(seen, this.build, this.rival), {
      ...translate.session(seen, this.place, isHelpers),
      ...origin,
    });
  }

  private deleted(session: Session, event: BusEvent): void {
    this.report(session, event, [{ kind: "session.closed", reason: "deleted" }]);
    session.record.forget();
    this.sessions.delete(session.id);
    this.asides.forget(session.id);
    this.copies.forget(session);
  }

  /** Report items under the event's own id: hooks and event log may report them twice, the service takes them once. */
  private report(session: Session, event: BusEvent, items: Item[]): void {
    if (items.length === 0 || this.copies.hold(session, event, items)) return;
    this.projectOf(session).report(session.id, event.id ?? randomUUID(), items);
  }

  /** Let OpenCode compact by itself only while the service does not keep the context small. */
  govern(config: { compaction?: Switches }): void {
    this.compacts = config.compaction?.auto ?? true;
    if (this.compactionMode !== "managed") return;
    config.compaction = governed(config.compaction, () => mayCompact(this.keepers, this.project.isReachable));
  }

  private get keepers(): ContextKeeper[] {
    return [...this.sessions.values()].map(({ keeper }) => keeper);
  }

  /** The plugins that OpenCode has loaded. */
  meet(plugins: unknown): void {
    this.rival = rivalOf(plugins);
    if (this.rival) this.service.log.note("another plugin changes the same prompts", { plugin: this.rival });
  }

  /** A person's message is about to start a turn: prepare what the step will need. */
  async prepare(id: string): Promise<void> {
    const session = this.session(id);
    this.known.load();
    await within(patience(this.service.options, PATIENCE), [
      this.service.broker.tried,
      this.known.loaded,
      this.service.log.guarded("looking for an origin", () => this.copies.traceBack(session)),
      this.service.log.guarded("reporting documents", () => this.reportDocuments(session)),
    ]);
    this.introduce(session);
    if (this.project.isSilent) void this.service.log.guarded("starting the installation", () => this.service.restart());
    if (session.record.isKnown && !session.isFollowed) {
      void this.service.log.guarded("filling", () => this.fill(session));
    }
  }

  /** OpenCode is at work on a session. A message alone begins no turn: plugins put some that nobody is to answer. */
  private begin(session: Session): void {
    const { keeper } = session;
    if (keeper.isBusy) return;
    keeper.isLeft = session.record.mode === "additive";
    this.handOver.begins(keeper, this.project.isReachable, this.notify);
  }

  private introduce(session: Session): void {
    if (session.isIntroduced || !session.seen) return;
    session.title = session.seen.title ?? "";
    const items = this.introduction(session, session.seen, session.origin);
    this.projectOf(session).report(session.id, `introduction/${randomUUID()}`, items);
  }

  private async reportDocuments(session: Session): Promise<void> {
    const project = this.projectOf(session);
    this.wanted.set(project.id, (await project.wanted()) ?? this.wanted.get(project.id) ?? this.service.guide);
    const items = await this.documents.changes(project.id, this.wanted.get(project.id) ?? this.service.guide);
    if (items.length > 0) project.report(session.id, `documents/${randomUUID()}`, items);
  }

  /** The turn is over: compare with the event log, and have the answer to a compaction ready. */
  private async rest(session: Session): Promise<void> {
    await this.fill(session);
    await this.reportDocuments(session);
    session.brief = (await this.projectOf(session).brief(session.id)) || session.brief;
    await this.person.showWaiting(session);
  }

  private fill(session: Session): Promise<void> {
    return this.history.fill(session, (event, items) => this.report(session, event, items));
  }

  /** The messages of the next model call, as they are served. */
  async serve(entries: Entry[]): Promise<Entry[]> {
    const session = this.sessionOf(entries);
    this.begin(session);
    session.plan.isRebased = false;
    if (session.isCompacting) {
      session.isCompacting = false;
      return session.serve(entries);
    }
    session.summarized();
    const own = await session.own(entries, patience(this.service.options, LOOK_UP));
    session.user = own.findLast((entry) => entry.info.role === "user")?.info;
    session.keeper.isLeft = own.length === 0 || this.asides.has(session, session.user);
    if (!session.keeper.isLeft) await this.plan(session, own);
    session.keeper.phase = "sent";
    return session.serve(entries);
  }

  /** The session of a call. A message that another plugin has put first may name none. */
  private sessionOf(entries: readonly Entry[]): Session {
    const named = entries.find(({ info }) => this.sessions.has(info.sessionID)) ?? entries[0];
    return this.session(named?.info.sessionID ?? "");
  }

  private async plan(session: Session, entries: Entry[]): Promise<void> {
    if (this.rival) this.person.warn(this.rival);
    await this.copies.settle(session, patience(this.service.options, PATIENCE));
    const { deadline } = this.project;
    this.introduce(session);
    const open = (isWhole: boolean) => this.open(session, entries, isWhole);
    const isInTime = await this.projectOf(session).plan(session, deadline, open);
    session.keeper.isLeft = this.prompts.modeOf(session) === "additive";
    session.keeper.isFull = isInTime && session.plan.isFull;
    this.handOver.planned(session.keeper, isInTime, this.notify);
  }

  private open(session: Session, entries: Entry[], isWhole: boolean): string {
    const step = randomUUID();
    const { items, message } = session.open(step, entries, this.details(session), isWhole);
    const tools = this.toolset.item();
    if (tools && tools.digest !== session.toolset) {
      session.toolset = tools.digest;
      items.unshift(tools);
    }
    this.projectOf(session).report(session.id, `step/${step}`, [...items, message]);
    return step;
  }

  private details(session: Session): Partial<StepSeen> {
    const { user } = session;
    const { providerID = "", modelID = "", variant } = user?.model ?? {};
    return {
      agent: user?.agent ?? "",
      mode: this.prompts.modeOf(session),
      provider: providerID,
      model: modelID,
      ...this.known.models.of(providerID, modelID),
      system_digest: session.systems.get(systemKey(user)) ?? "",
      toolset: this.toolset.item()?.digest ?? "",
      denied: this.prompts.denied(session, this.toolset.names),
      variant: variant ?? "",
      compacts: this.compacts,
    };
  }

  /** Show a text to the person, in the session; the model never sees it. */
  show(id: string, text: string): Promise<void> {
    return this.person.show(this.session(id), text);
  }

  /**
   * Put what is known that helps behind a message that a person typed. The message itself goes out as it was typed:
   * OpenCode has taken it for a template. What is added is stored with it, as no words of the person.
   */
  async augment(id: string, line: Line, typed: string, parts: Partial<Part>[]): Promise<void> {
    const own = parts.find(({ type }) => type === "text");
    if (own) own.text = typed;
    const session = this.session(id);
    const { text, notice } = await additionTo(this.service, this.projectOf(session).id, id, line, typed);
    if (!text) return this.person.notify([`Your message went out as you typed it. ${notice}`]);
    await this.person.showAdded(session, notice, text);
    parts.push({ type: "text", text, synthetic: true });
  }

  /** The system prompt as it is sent. */
  adjustSystem(id: string, entries: string[]): string[] {
    return this.prompts.adjusted(this.session(id), entries);
  }

  /** What OpenCode's own summary should know. Asked for now; if that takes too long, as of the last rest. */
  async compaction(id: string): Promise<string> {
    const session = this.session(id);
    session.isCompacting = true;
    session.isSummarizing = true;
    return (await this.projectOf(session).brief(id)) || session.brief;
  }
}
