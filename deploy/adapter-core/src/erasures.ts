/** Erasures that this adapter was not connected for: what they took goes out of what it has stored, before it sends. */

import { createHash } from "node:crypto";
import { lstatSync, readdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Broker } from "./broker.ts";
import { type Options, patience } from "./endpoint.ts";
import { readOwn, readOwnBytes, writeOwn } from "./files.ts";
import type { ClientManifest, ErasureOrder, ErasureOrders, ErasuresAsk } from "./language.ts";
import type { Log } from "./log.ts";
import { type Masks, problemOf, spellingsIn, without } from "./orders.ts";
import { projectOf, recordPath } from "./record.ts";
import { type InboundMessage, isAbandoned } from "./spool.ts";
import { ask, token } from "./subjects.ts";
import { breath, unreferenced } from "./timers.ts";

const TIMEOUT = 1000;
/** Milliseconds until what failed is tried again: at first, and at most. */
const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 5000;

/** What waits to be sent. */
export interface Queue {
  messages(): InboundMessage[];
  /** Each message becomes what `change` makes of it; nothing: it is not sent. */
  change(change: (message: InboundMessage) => InboundMessage | undefined): void;
}

export class Erasures {
  private readonly path: string;
  /** Orders that this plugin cannot do: each is noted once. */
  private readonly unfit = new Set<string>();

  constructor(
    private readonly broker: Pick<Broker, "connected" | "request">,
    private readonly options: Options,
    private readonly directory: string,
    private readonly log: Log,
  ) {
    this.path = join(directory, "erasures.json");
  }

  /**
   * Do what was ordered: in the queue each time, since it may be one of an earlier process, and in the files once.
   * Resolves with whether the queue may be sent; it may not where the connection ended before all of that was done.
   */
  async settle(queue: Queue): Promise<boolean> {
    const found = await this.untilDone("erasures were not answered", () => this.orders());
    if (!found) return false;
    const orders = found.filter((order) => this.isFit(order));
    if (orders.length === 0) return true;
    const isClean = await this.untilDone("erasures could not be done in what waits", () => this.clean(queue, orders));
    if (!isClean) return false;
    await this.log.guarded("doing erasures in files", () => this.cleanFiles(orders));
    return true;
  }

  /** What comes of this work, which is tried ever more seldom as long as it fails; nothing where the connection ends. */
  private async untilDone<T>(failure: string, work: () => Promise<T>): Promise<T | undefined> {
    for (let pause = FIRST_PAUSE; this.broker.connected; pause = Math.min(pause * 2, LONGEST_PAUSE)) {
      try {
        return await work();
      } catch (error) {
        const isFirst = pause === FIRST_PAUSE;
        if (isFirst) this.log.note(`${failure}; what waits is sent later`, { error: String(error) });
        await unreferenced(pause);
      }
    }
    return undefined;
  }

  /** Whether this plugin can do an order: one that it cannot read must not stop all that is sent, for ever. */
  private isFit(order: ErasureOrder): boolean {
    const reason = problemOf(order);
    const name = `${order?.order} ${reason}`;
    if (reason && !this.unfit.has(name)) {
      const remedy = "`annals setup` installs the plugin of the rooms' release";
      this.log.note("an order of an erasure was passed over", { order: order?.order, reason, remedy });
      this.unfit.add(name);
    }
    return reason === "";
  }

  /** All orders; none where the rooms are of a release that gives none. */
  private async orders(): Promise<ErasureOrder[]> {
    try {
      return await this.pages();
    } catch (error) {
      if (await this.knowsNoOrders()) return [];
      throw error;
    }
  }

  private async pages(): Promise<ErasureOrder[]> {
    const found: ErasureOrder[] = [];
    for (let since = 0; ; ) {
      const question = { since } satisfies ErasuresAsk;
      const reply = await this.request<ErasureOrders>("erasures", question);
      if (reply.error) throw new Error(reply.error);
      found.push(...(reply.orders ?? []));
      if (!reply.more) return found;
      if (reply.more <= since) throw new Error(`behind ${since} there is more at ${reply.more}`);
      since = reply.more;
    }
  }

  private async knowsNoOrders(): Promise<boolean> {
    try {
      const guide = await this.request<ClientManifest>("guide", {});
      return Boolean(guide.digest) && !guide.erasures;
    } catch {
      return false; // no room answers: nobody knows yet
    }
  }

  private request<T>(name: string, question: object): Promise<T> {
    return this.broker.request<T>(ask(name, ""), question, patience(this.options, TIMEOUT));
  }

  private async clean(queue: Queue, orders: readonly ErasureOrder[]): Promise<boolean> {
    const texts = queue.messages().flatMap(({ data, bodies }) => [data, ...Object.values(bodies ?? {})]);
    const masks = await spellingsIn(
      orders,
      texts.map((text) => Buffer.from(text)),
      breath,
    );
    const [sessions, projects] = [moments(orders, "sessions"), moments(orders, "projects")];
    queue.change((message) => (isDropped(message, sessions, projects) ? undefined : maskedMessage(message, masks)));
    return true;
  }

  /** An order is done when no file was left over: one that cannot be read or written keeps no other from being cleaned. */
  private async cleanFiles(orders: readonly ErasureOrder[]): Promise<void> {
    const done = this.done();
    const due = orders.filter(({ order }) => !done.includes(order));
    if (due.length === 0) return;
    const projects = new Set(due.flatMap((order) => order.projects ?? []));
    for (const session of due.flatMap((order) => order.sessions ?? [])) {
      rmSync(recordPath(this.directory, session), { force: true });
    }
    let isAll = true;
    for (const path of this.files()) {
      const isClean = await this.log.guarded(`doing erasures in ${path}`, () => this.cleanFile(path, due, projects));
      isAll &&= isClean ?? false;
    }
    if (isAll) writeOwn(this.path, JSON.stringify({ done: orders.map(({ order }) => order) }));
  }

  private async cleanFile(path: string, due: readonly ErasureOrder[], projects: ReadonlySet<string>): Promise<boolean> {
    if (!isThere(path)) return true;
    if (projects.size > 0 && dirname(path) === this.records && projects.has(projectOf(path))) {
      rmSync(path, { force: true });
      return true;
    }
    const masks = await spellingsIn(due, [readOwnBytes(path)], breath);
    if (masks.size === 0 || !isThere(path)) return true;
    const data = readOwnBytes(path); // without a pause until it is written: others append to it meanwhile
    const clean = without(data, masks);
    if (clean !== data) writeOwn(path, clean);
    return true;
  }

  private done(): string[] {
    try {
      const { done } = JSON.parse(readOwn(this.path));
      return Array.isArray(done) ? done : [];
    } catch {
      return []; // nothing was ordered yet, or half a file: to do it again changes nothing
    }
  }

  private get records(): string {
    return join(this.directory, "sessions");
  }

  /** The files of this harness's adapters, without spools of processes that run: these do it themselves. */
  private files(): string[] {
    const spooled = filesIn(join(this.directory, "spool")).filter((path) => isAbandoned(basename(path)));
    return [...filesIn(this.directory), ...filesIn(this.records), ...spooled];
  }
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .sort()
      .map((name) => join(folder, name))
      .filter(isThere);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

const isThere = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false;

/** When what has this name went at last, by its name in subjects. */
function moments(orders: readonly ErasureOrder[], names: "sessions" | "projects"): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const order of orders) {
    const at = Date.parse(order.ordered_at);
    for (const name of order[names] ?? []) found.set(token(name), Math.max(at, found.get(token(name)) ?? at));
  }
  return found;
}

/** Whether a message is of a session or a project that went, and was made before that. */
function isDropped(
  { subject, data }: InboundMessage,
  sessions: ReadonlyMap<string, number>,
  projects: ReadonlyMap<string, number>,
): boolean {
  const [, , project = "", session = ""] = subject.split(".");
  const ends = [sessions.get(session), projects.get(project)].filter((end) => end !== undefined);
  return ends.length > 0 && madeAt(data) <= Math.max(...ends);
}

/** When a message was made; one that does not say it is of before. */
function madeAt(data: string): number {
  try {
    return Date.parse(JSON.parse(data).at) || 0;
  } catch {
    return 0;
  }
}

/** Long bodies are named by their content, so that the message must name the masked ones. */
function maskedMessage(message: InboundMessage, masks: Masks): InboundMessage {
  if (masks.size === 0) return message;
  let data = maskedText(message.data, masks);
  const bodies: Record<string, string> = {};
  for (const [reference, body] of Object.entries(message.bodies ?? {})) {
    const clean = maskedText(body, masks);
    const name = clean === body ? reference : createHash("sha256").update(clean).digest("hex");
    bodies[name] = clean;
    data = data.replaceAll(reference, name);
  }
  return { ...message, data, ...(message.bodies && { bodies }) };
}

function maskedText(text: string, masks: Masks): string {
  const data = Buffer.from(text);
  const clean = without(data, masks);
  return clean === data ? text : clean.toString();
}
