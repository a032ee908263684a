/** The connection to the broker. It reconnects for ever, and every wait has the limit that its caller sets. */

import { Objm } from "@nats-io/obj";
import { connect, headers, type NatsConnection, PermissionViolationError, RequestError } from "@nats-io/transport-node";
import { type Endpoint, endpoint, type Options } from "./endpoint.ts";
import { INBOUND_BODIES } from "./language.ts";
import type { Log } from "./log.ts";
import { wellFormed } from "./texts.ts";
import { unreferenced } from "./timers.ts";
import { Unheard } from "./unheard.ts";

const CONNECT_TIMEOUT = 2000;
const FIRST_WAIT = 200;
const LONGEST_WAIT = 5000;
const PUBLISH_TIMEOUT = 5000;
const NAME_IN_USE = /already|exists/i;

export class Broker {
  private connection: NatsConnection | undefined;
  private listeners: (() => void)[] = [];
  private wake: () => void = () => {};
  private settle: (isConnected: boolean) => void = () => {};
  /** Whether the first attempt to connect succeeded, once that is known. */
  readonly tried = new Promise<boolean>((resolve) => {
    this.settle = resolve;
  });

  /** `name` is what the broker calls this connection. */
  constructor(
    private readonly options: Options,
    private readonly log: Log,
    private readonly name: string,
  ) {
    void this.stayConnected();
  }

  get connected(): boolean {
    return this.connection !== undefined;
  }

  /** The largest message that the broker takes, headers included. */
  get maxPayload(): number {
    return this.connection?.info?.max_payload ?? 1024 * 1024;
  }

  /** Call whenever a connection has been made, and at once if there is one. */
  onConnected(listener: () => void): void {
    this.listeners.push(listener);
    if (this.connected) listener();
  }

  /** Publish to a stream; resolves when it is on the broker's disk. The same id again is stored once. */
  async publish(subject: string, data: string, id: string): Promise<void> {
    const header = headers();
    header.set("Nats-Msg-Id", id);
    const reply = await this.live().request(subject, data, { timeout: PUBLISH_TIMEOUT, headers: header });
    const { error } = reply.json<{ error?: { description?: string } }>();
    if (error) throw new Error(`the broker did not take ${subject}: ${error.description}`);
  }

  /** The answer to a request. Throws `Unheard` where it has reached nobody. */
  async request<T>(subject: string, question: unknown, timeout: number): Promise<T> {
    const connection = this.live();
    try {
      return (await connection.request(subject, JSON.stringify(wellFormed(question)), { timeout })).json<T>();
    } catch (error) {
      throw isUnheard(error) ? new Unheard(String(error)) : error;
    }
  }

  /** Keep a long body under its digest. */
  async keep(reference: string, text: string): Promise<void> {
    const store = await new Objm(this.live()).open(INBOUND_BODIES);
    if (await store.info(reference)) return;
    try {
      await store.putBlob({ name: reference }, new TextEncoder().encode(text));
    } catch (error) {
      if (!NAME_IN_USE.test(String(error))) throw error;
    }
  }

  /** Try again at once: there is a broker now. */
  hurry(): void {
    this.wake();
  }

  private hurried(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }

  private live(): NatsConnection {
    if (!this.connection) throw new Unheard("not connected to the broker");
    return this.connection;
  }

  private async stayConnected(): Promise<void> {
    let wait = FIRST_WAIT;
    for (;;) {
      try {
        this.connection = await open(endpoint(this.options), this.name);
        wait = FIRST_WAIT;
        this.log.note("connected", { server: this.connection.getServer() });
        this.settle(true);
        for (const listener of this.listeners) listener();
        const reason = await this.connection.closed();
        this.log.note("the connection ended", { reason: String(reason ?? "the broker closed it") });
      } catch (error) {
        this.log.note("not connected", { error: String(error) });
        this.settle(false);
      }
      this.connection = undefined;
      await Promise.race([unreferenced(wait), this.hurried()]);
      wait = Math.min(wait * 2, LONGEST_WAIT);
    }
  }
}

const isUnheard = (error: unknown): boolean =>
  error instanceof PermissionViolationError || (error instanceof RequestError && error.isNoResponders());

/** One attempt. The client does not reconnect by itself: the broker may come back at another address. */
function open({ url, user, password }: Endpoint, name: string): Promise<NatsConnection> {
  return connect({
    servers: url,
    name,
    ...(password ? { user: user ?? "harness", pass: password } : {}),
    timeout: CONNECT_TIMEOUT,
    reconnect: false,
    pingInterval: 10_000,
    maxPingOut: 2,
    ignoreAuthErrorAbort: true,
  });
}
