/** The connection to the service: one for all projects of a process, with its outbox and the guide. */

import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Broker, unreferenced } from "./broker.ts";
import { type Options, stateDirectory } from "./endpoint.ts";
import { type Guide, HARNESS } from "./language.ts";
import { Log } from "./log.ts";
import { Outbox } from "./outbox.ts";
import { ask } from "./subjects.ts";

const GUIDE_TIMEOUT = 1000;
/** Milliseconds that the harness's start waits for the guide at most: the first time, and where one is kept. */
const START = 1500;
const RESTART = 300;
const GUIDE_RETRY = 2000;

export class Service {
  readonly directory: string;
  readonly log: Log;
  readonly broker: Broker;
  readonly outbox: Outbox;
  guide: Guide = { digest: "" };
  private readonly guidePath: string;
  private isFetching = false;
  private readonly fetched: Promise<void>;

  constructor(readonly options: Options) {
    this.directory = stateDirectory(options);
    this.log = new Log(this.directory);
    this.guidePath = join(this.directory, "guide.json");
    this.readGuide();
    this.broker = new Broker(options, this.log);
    this.outbox = new Outbox(this.broker, this.log, this.directory);
    this.fetched = new Promise((resolve) => this.broker.onConnected(() => void this.fetchGuide().then(resolve)));
  }

  /** Have a guide: that of the service if it answers in time, else the one from before. */
  async ready(): Promise<void> {
    await Promise.race([this.fetched, unreferenced(this.guide.digest ? RESTART : START)]);
  }

  /** Ask until there is an answer, or no connection any more; the next connection asks again. */
  private async fetchGuide(): Promise<void> {
    if (this.isFetching) return;
    this.isFetching = true;
    while (this.broker.connected) {
      const guide = await this.log.guarded("fetching the guide", () =>
        this.broker.request<Guide>(ask("guide", ""), { harness: HARNESS }, GUIDE_TIMEOUT),
      );
      if (guide?.digest) {
        this.keepGuide(guide);
        break;
      }
      await unreferenced(GUIDE_RETRY);
    }
    this.isFetching = false;
  }

  private readGuide(): void {
    try {
      this.guide = JSON.parse(readFileSync(this.guidePath, "utf8"));
    } catch {
      // nothing is kept yet
    }
  }

  private keepGuide(guide: Guide): void {
    if (guide.digest === this.guide.digest) return;
    this.guide = guide;
    writeFileSync(`${this.guidePath}.draft`, JSON.stringify(guide), { mode: 0o600 });
    renameSync(`${this.guidePath}.draft`, this.guidePath);
  }
}
