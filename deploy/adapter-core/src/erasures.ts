/** Erasures that this adapter was not connected for: what they took goes out of what it has stored, before it sends. */

import { createHash } from "node:crypto";
import { lstatSync, readdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import type { Broker } from "./broker.ts";
import { type Options, patience } from "./endpoint.ts";
import { readOwn, readOwnBytes, writeOwn } from "./files.ts";
import type { ClientManifest, ErasureOrder, ErasureOrders, ErasuresAsk } from "./language.ts";
import type { Log } from "./log.ts";
import { type Masks, spellingsIn, without } from "./orders.ts";
import { projectOf, recordPath } from "./record.ts";
import { type InboundMessage, isAbandoned } from "./spool.ts";
import { ask, token } from "./subjects.ts";
import { unreferenced } from "./timers.ts";

const TIMEOUT = 1000;
/** Milliseconds until rooms that did not answer are asked again: at first, and at most. */
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
   * Resolves with whether the queue may be sent; it may not where the connection ended before the rooms answered.
   */
  async settle(queue: Queue): Promise<boolean> {
    const orders = await this.orders();
    if (!orders) return false;
    if (orders.length === 0) return true;
    await this.clean(queue, orders);
    await this.log.guarded("doing erasures in files", () => this.cleanFiles(orders));
    return true;
  }

  /** All orders; none where the rooms are of a release that gives none, nothing where the connection has ended. */
  private async orders(): Promise<ErasureOrder[] | undefined> {
    for (let pause = FIRST_PAUSE; this.broker.connected; pause = Math.min(pause * 2, LONGEST_PAUSE)) {
      try {
        return await this.pages();
      } catch (error) {
        if (await this.knowsNoOrders()) return [];
        const isFirst = pause === FIRST_PAUSE;
        if (isFirst) this.log.note("erasures were not answered; what waits is sent later", { error: String(error) });
        await unreferenced(pause);
      }
    }
    return undefined;
  }

  private async pages(): Promise<ErasureOrder[]> {
    const found: ErasureOrder[] = [];
    for (let since = 0; ; ) {
      const question = { since } satisfies ErasuresAsk;
      const reply = await this.request<ErasureOrders>("erasures", question);
      if (reply.error) throw new Error(reply.error);
      found.push(...(reply.orders ?? []));
      if (!reply.more) return found;
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

  private async clean(queue: Queue, orders: readonly ErasureOrder[]): Promise<void> {
    const texts = queue.messages().flatMap(({ data, bodies }) => [data, ...Object.values(bodies ?? {})]);
    const masks = await spellingsIn(
      orders,
      texts.map((text) => Buffer.from(text)),
    );
    queue.change((message) => (isDropped(message, orders) ? undefined : maskedMessage(message, masks)));
  }

  private async cleanFiles(orders: readonly ErasureOrder[]): Promise<void> {
    const done = this.done();
    const due = orders.filter(({ order }) => !done.includes(order));
    if (due.length === 0) return;
    this.dropPlans(due);
    const masks = await spellingsIn(due, this.files().map(readOwnBytes));
    for (const path of masks.size > 0 ? this.files() : []) {
      const data = readOwnBytes(path);
      const clean = without(data, masks);
      if (clean !== data) writeOwn(path, clean);
    }
    writeOwn(this.path, JSON.stringify({ done: orders.map(({ order }) => order) }));
  }

  private done(): string[] {
    try {
      const { done } = JSON.parse(readOwn(this.path));
      return Array.isArray(done) ? done : [];
    } catch {
      return []; // nothing was ordered yet, or half a file: to do it again changes nothing
    }
  }

  private dropPlans(orders: readonly ErasureOrder[]): void {
    const projects = new Set(orders.flatMap((order) => order.projects ?? []));
    for (const session of orders.flatMap((order) => order.sessions ?? [])) {
      rmSync(recordPath(this.directory, session), { force: true });
    }
    if (projects.size === 0) return;
    for (const path of filesIn(join(this.directory, "sessions"))) {
      if (projects.has(projectOf(path))) rmSync(path, { force: true });
    }
  }

  /** The files of this harness's adapters, without spools of processes that run: these do it themselves. */
  private files(): string[] {
    const spooled = filesIn(join(this.directory, "spool")).filter((path) => isAbandoned(basename(path)));
    return [...filesIn(this.directory), ...filesIn(join(this.directory, "sessions")), ...spooled];
  }
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .sort()
      .map((name) => join(folder, name))
      .filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isFile());
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** Whether a message is of a session or a project that went, and was made before that. */
function isDropped({ subject, data }: InboundMessage, orders: readonly ErasureOrder[]): boolean {
  const [, , project, session] = subject.split(".");
  return orders.some(
    ({ ordered_at: at, sessions = [], projects = [] }) =>
      (sessions.some((one) => token(one) === session) || projects.some((one) => token(one) === project)) &&
      madeAt(data) <= Date.parse(at),
  );
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
