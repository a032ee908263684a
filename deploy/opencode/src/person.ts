/** What the person at OpenCode is shown: answers in the session, and notices. */

import type { Log } from "@annals/adapter-core/log";
import type { Client } from "./harness.ts";
import type { Session } from "./session.ts";

/** The title of a session that OpenCode has given none. */
const UNTITLED = /^(?:New|Child) session - /;

const isUntitled = ({ seen }: Session) => seen !== undefined && UNTITLED.test(seen.title ?? "");

export class Person {
  private isWarned = false;

  constructor(
    private readonly client: Client,
    private readonly log: Log,
  ) {}

  /** Show a text to the person, in the session; the model never sees it. */
  async show(session: Session, text: string): Promise<void> {
    if (session.keeper.isBusy) return this.notify([text]); // a message would become the one that the model answers
    const { agent, model } = session.user ?? {};
    const parts = [{ type: "text", text, ignored: true }];
    await this.client.session.prompt({ path: { id: session.id }, body: { noReply: true, parts, agent, model } });
  }

  /** Show what goes out behind the next message. OpenCode titles a session by its first message, which this must not be. */
  async showAdded(session: Session, notice: string, text: string): Promise<void> {
    this.notify([notice]);
    if (session.keeper.isBusy || isUntitled(session)) session.added.push(`${notice}\n\n${text}`);
    else await this.show(session, `${notice}\n\n${text}`);
  }

  /** Show what had to wait for the end of the turn. */
  async showWaiting(session: Session): Promise<void> {
    for (const text of session.added.splice(0)) await this.show(session, text);
  }

  notify(notices: readonly string[]): void {
    for (const message of notices) {
      void this.log.guarded("showing a notice", () =>
        this.client.tui?.showToast({ body: { message, variant: "info" } }),
      );
    }
  }

  /** Say, once, that another plugin changes the same prompts. */
  warn(rival: string): void {
    if (this.isWarned) return;
    this.isWarned = true;
    this.notify([
      `${rival} changes the same prompts as Annals. Annals leaves those of new sessions as they are; ` +
        "`annals doctor` says what to do.",
    ]);
  }
}
