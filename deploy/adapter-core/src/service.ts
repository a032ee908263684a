/** The connection to the service: one for all projects of a process, with its outbox and the guide. */

import { join } from "node:path";
import { Broker } from "./broker.ts";
import { nextToBundle } from "./bundle.ts";
import { type Options, patience, stateDirectory } from "./endpoint.ts";
import { Erasures } from "./erasures.ts";
import { readOwn, writeOwn } from "./files.ts";
import type { ClientManifest, ClientManifestAsk } from "./language.ts";
import { hasDied, launch } from "./launch.ts";
import { Log } from "./log.ts";
import { Outbox } from "./outbox.ts";
import { Starts } from "./starts.ts";
import { ask } from "./subjects.ts";
import { unreferenced } from "./timers.ts";

const GUIDE_TIMEOUT = 1000;
/** Milliseconds that the harness's start waits for the guide at most: the first time, and where one is stored. */
const START = 1500;
const RESTART = 300;
const GUIDE_RETRY = 2000;
/** Milliseconds that an installation has to answer behind its broker before another one is started. */
const ANSWER = 5000;
/** Milliseconds that an installation which was started has to serve its first plans. */
const SETTLING = 10_000;
/** Milliseconds from one start to the next at least. */
const PAUSE = 60_000;

/** Who an adapter is: its harness, as subjects and files name it, and the address of the bundle that it runs from. */
export interface Identity {
  harness: string;
  bundle: string;
}

export class Service {
  readonly directory: string;
  readonly log: Log;
  readonly broker: Broker;
  readonly outbox: Outbox;
  guide: ClientManifest = { digest: "" };
  private readonly guidePath: string;
  private isFetching = false;
  private readonly starts: Starts;
  private readonly fetched: Promise<void>;

  constructor(
    readonly identity: Identity,
    readonly options: Options,
  ) {
    this.starts = new Starts(patience(options, PAUSE));
    this.directory = stateDirectory(options, identity.harness);
    this.log = new Log(this.directory);
    this.guidePath = join(this.directory, "guide.json");
    this.readGuide();
    this.broker = new Broker(options, this.log, identity.harness);
    const erasures = new Erasures(this.broker, options, this.directory, this.log);
    this.outbox = new Outbox(this.broker, this.log, this.directory, erasures);
    this.fetched = new Promise((resolve) => this.broker.onConnected(() => void this.fetchGuide(resolve)));
    void this.log.guarded("looking for an installation", () => this.begin());
  }

  /** The installation has been asked to start: no notice is needed yet that it does not answer. */
  get isComing(): boolean {
    return this.starts.isUnderWay;
  }

  /** Have a guide: that of the service if it answers in time, else the one from before. */
  async ready(): Promise<void> {
    await Promise.race([this.fetched, unreferenced(patience(this.options, this.guide.digest ? RESTART : START))]);
  }

  /** Call it when a turn begins and no installation answers: one that has died is started again. */
  async restart(): Promise<void> {
    if (this.options.house && hasDied(this.options.house)) await this.start();
  }

  /** Have the installation on this machine started, if that is this adapter's to do. One that runs is left as it is. */
  private async start(): Promise<void> {
    const { house: installation } = this.options;
    if (!installation || !this.starts.begin(performance.now())) return;
    try {
      const isStarted = await launch(installation, join(this.directory, "launch.log"), this.log);
      this.broker.hurry();
      if (isStarted) await unreferenced(patience(this.options, SETTLING));
    } finally {
      this.starts.ended();
    }
  }

  /** Start it where none answers when the harness begins: a broker alone is none. */
  private async begin(): Promise<void> {
    if (!this.options.house) return;
    const isThere = await Promise.race([
      this.fetched.then(() => true),
      this.broker.tried
        .then((isConnected) => (isConnected ? unreferenced(patience(this.options, ANSWER)) : undefined))
        .then(() => false),
    ]);
    if (!isThere) await this.start();
  }

  /** Ask until there is an answer, or no connection any more; the next connection asks again. */
  private async fetchGuide(done: () => void): Promise<void> {
    if (this.isFetching) return;
    this.isFetching = true;
    while (this.broker.connected) {
      const guide = await this.log.guarded("fetching the guide", () =>
        this.broker.request<ClientManifest>(
          ask("guide", ""),
          { harness: this.identity.harness, verbs: ["command", "ask"] } satisfies ClientManifestAsk,
          patience(this.options, GUIDE_TIMEOUT),
        ),
      );
      if (guide?.digest) {
        await this.log.guarded("storing the guide", () => this.keepGuide(guide));
        done();
        break;
      }
      await unreferenced(GUIDE_RETRY);
    }
    this.isFetching = false;
  }

  /** The guide that was answered last; before the first answer, the one that setup has left next to this bundle. */
  private readGuide(): void {
    for (const text of [() => readOwn(this.guidePath), () => nextToBundle(this.identity.bundle, "guide.json")]) {
      try {
        this.guide = JSON.parse(text());
        return;
      } catch {
        // nothing is stored there yet
      }
    }
  }

  private keepGuide(guide: ClientManifest): void {
    if (guide.digest === this.guide.digest) return;
    this.guide = guide;
    writeOwn(this.guidePath, JSON.stringify(guide));
  }
}
