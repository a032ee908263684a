/** Questions that a room has for a model and that a harness answers, with its own logins: asked for, taken, answered. */

import { randomUUID } from "node:crypto";
import type { OfferedQuestion, QuestionAsk } from "./language.ts";
import { mask } from "./mask.ts";
import type { Service } from "./service.ts";
import { ask, command } from "./subjects.ts";
import { unreferenced } from "./timers.ts";

/** Milliseconds that the service waits for a question before it replies that there is none. */
const WAIT = 20_000;
/** Milliseconds that its reply may come later than that. */
const SLACK = 5000;
const COMMAND = 10_000;
/** Milliseconds until the next question is asked for: where there was none, and at most where nobody answers. */
const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 60_000;
/** Milliseconds that a question is answered in at most: the service gives it to another process 10 s later. */
const TAKEN = 170_000;
/** Milliseconds that the harness has to end an answer that was aborted. */
const GRACE = 5000;
/** How often an answer is sent where the service does not reply. */
const ATTEMPTS = 3;
/** The service takes no longer answer, and no longer reason why there is none. */
const MOST_CHARACTERS = 400_000;
const LONGEST_REASON = 2000;
/** Questions that a process remembers to have begun with. */
const MOST_BEGUN = 64;
/** Bytes of a message that are left to its subject and its headers. */
const ROOM = 1024;

/** A question that this process has taken. */
export type TakenQuestion = Required<Omit<OfferedQuestion, "error" | "until">> & { until: string };

/** What came of a question. Tokens as the provider counted them; `cached` is a part of `tokens_in`. */
export interface ModelAnswer {
  text: string;
  /** Empty: it was answered. "busy", "refused", "aborted", "empty", "overflow", "timeout", or a sentence. */
  failure: string;
  /** The model that answered, as `provider/model`. */
  model: string;
  tokens_in: number;
  tokens_out: number;
  cached: number;
  /** US dollars, as the harness reports them; 0: it knows none. */
  usd: number;
}

/** What the harness's own adapter does. Both may fail: the reason is reported as the failure. */
export interface Answering {
  /** Called once, before the first question: remove what a process that was killed has left. */
  begin(): Promise<void>;
  /** Answer without tools and outside of any conversation. The signal ends it; its reason is the failure to report. */
  answer(question: TakenQuestion, signal: AbortSignal): Promise<ModelAnswer>;
}

const NOTHING: ModelAnswer = { text: "", failure: "", model: "", tokens_in: 0, tokens_out: 0, cached: 0, usd: 0 };

/** An answer with some of its fields. */
export const modelAnswer = (fields: Partial<ModelAnswer>): ModelAnswer => ({ ...NOTHING, ...fields });

/** A process of a harness: it answers one question at a time, whatever project that is of. */
export class Taker {
  readonly id: string = randomUUID();
  /** The newest questions that it has begun to answer, the oldest first. */
  readonly begun = new Set<string>();
  private last: Promise<unknown> = Promise.resolve();

  /** Do this when all that was to be done before has ended. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    const next = this.last.then(work, work);
    this.last = next.catch(() => undefined);
    return next;
  }

  /** From here on it wants no offer of a question that is its own. */
  begin(question: string): void {
    this.begun.delete(question);
    this.begun.add(question);
    for (const oldest of this.begun) {
      if (this.begun.size <= MOST_BEGUN) return;
      this.begun.delete(oldest);
    }
  }
}

interface Reply {
  ok?: boolean;
  text?: string;
  /** Nothing was decided: the same command may be sent again. */
  again?: boolean;
}

/** What it needs of the service's connection. */
type Connection = Pick<Service, "identity"> & {
  log: Pick<Service["log"], "note" | "guarded">;
  broker: Pick<Service["broker"], "connected" | "maxPayload" | "request" | "onConnected">;
};

/** The questions of one project, as long as the harness runs. Nothing else waits for any of this. */
export class Questions {
  private isStarted = false;
  private isClosed = false;
  /** Nobody has answered since the last answer, and that was noted. */
  private isSilent = false;
  private pause = FIRST_PAUSE;
  private wake: () => void = () => undefined;
  private current: AbortController | undefined;
  private underWay: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly project: string,
    private readonly service: Connection,
    private readonly taker: Taker,
    private readonly answering: Answering,
  ) {}

  /** Ask for questions from now on. */
  start(): void {
    if (this.isStarted || this.isClosed) return;
    this.isStarted = true;
    this.service.broker.onConnected(() => {
      this.pause = FIRST_PAUSE;
      this.wake();
    });
    void this.service.log.guarded("answering questions", () => this.run());
  }

  /** Ask for none any more, and abort the one that is being answered; settles when that has been reported. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.wake();
    this.current?.abort("aborted");
    await this.underWay;
  }

  private async run(): Promise<void> {
    await this.service.log.guarded("removing what was left of questions", () => this.answering.begin());
    while (!this.isClosed) {
      const isAnswered = this.service.broker.connected ? await this.asked() : undefined;
      if (this.isClosed || isAnswered) continue;
      const woken = new Promise<void>((resolve) => {
        this.wake = resolve;
      });
      await Promise.race([unreferenced(this.pause), woken]);
      if (isAnswered === undefined) this.pause = Math.min(this.pause * 2, LONGEST_PAUSE);
    }
  }

  /** Whether a question was answered; undefined where nobody replies. */
  private async asked(): Promise<boolean | undefined> {
    try {
      const isAnswered = await this.next();
      [this.pause, this.isSilent] = [FIRST_PAUSE, false];
      return isAnswered;
    } catch (error) {
      if (!this.isSilent) this.service.log.note("no questions can be asked for", { error: String(error) });
      this.isSilent = true;
      return undefined;
    }
  }

  private async next(): Promise<boolean> {
    const question: QuestionAsk = {
      project: this.project,
      harness: this.service.identity.harness,
      taker: this.taker.id,
      deadline_ms: WAIT,
      begun: [...this.taker.begun],
    };
    const subject = ask("question", this.project);
    const offered = await this.service.broker.request<OfferedQuestion>(subject, question, WAIT + SLACK);
    if (offered.error) throw new Error(offered.error);
    if (!offered.question) return false;
    const answered = this.taker.alone(() => this.take(complete(offered)));
    this.underWay = answered.catch(() => undefined);
    return answered;
  }

  private async take(question: TakenQuestion): Promise<boolean> {
    if (this.isClosed) return false;
    const taken = await this.send("question.take", question, {});
    if (!taken?.ok) return false;
    this.taker.begin(question.question);
    await this.report(question, await this.answer(question));
    return true;
  }

  private async answer(question: TakenQuestion): Promise<ModelAnswer> {
    const controller = new AbortController();
    const { signal } = controller;
    const until = Date.parse(question.until) - Date.now();
    const left = Math.min(TAKEN, Number.isNaN(until) ? TAKEN : until);
    if (left <= 0) return modelAnswer({ failure: "timeout" });
    this.current = controller;
    if (this.isClosed) controller.abort("aborted");
    void unreferenced(left).then(() => controller.abort("timeout"));
    const failed = () => modelAnswer({ failure: String(signal.reason) });
    try {
      return await Promise.race([this.answering.answer(question, signal), ended(signal).then(failed)]);
    } catch (error) {
      this.service.log.note("a question was not answered", { question: question.question, error: String(error) });
      return signal.aborted ? failed() : modelAnswer({ failure: String(error) });
    } finally {
      this.current = undefined;
    }
  }

  private async report(question: TakenQuestion, given: ModelAnswer): Promise<void> {
    const answer = this.sendable({ ...given, text: mask(given.text), failure: mask(given.failure) });
    const reply = await this.send("question.answer", question, answer);
    if (reply?.ok) return;
    this.service.log.note("an answer was not taken", {
      question: question.question,
      reason: reply?.text ?? "no reply",
    });
  }

  /** The answer, or where it is longer than the service takes, that it is. */
  private sendable(answer: ModelAnswer): ModelAnswer {
    const { text, failure } = answer;
    const bytes = Buffer.byteLength(JSON.stringify(answer)) + ROOM;
    if (text.length > MOST_CHARACTERS || bytes > this.service.broker.maxPayload) {
      return { ...answer, text: "", failure: "overflow" };
    }
    if (failure.length <= LONGEST_REASON) return answer;
    return { ...answer, failure: `the harness gave a reason of ${failure.length} characters` };
  }

  /**
   * Send a command about a question, again where no reply comes; undefined where none came at all. A harness may send
   * commands on the subjects of sessions alone: a question that is about no session goes under the name of its taker.
   */
  private async send(type: string, { question, session }: TakenQuestion, fields: object): Promise<Reply | undefined> {
    const subject = command(this.project, session || this.taker.id, type);
    const message = {
      id: `${this.taker.id}/${question}/${type}`,
      at: new Date().toISOString(),
      actor: { kind: "harness", id: this.service.identity.harness },
      data: { question, taker: this.taker.id, session, ...fields },
    };
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      try {
        const reply = await this.service.broker.request<Reply>(subject, message, COMMAND);
        if (!reply.again) return reply;
      } catch (error) {
        this.service.log.note("a command about a question got no reply", { type, error: String(error) });
      }
      if (attempt < ATTEMPTS) await unreferenced(FIRST_PAUSE * attempt);
    }
    return undefined;
  }
}

/** Settles when an answer has been aborted, and its end was waited for in vain. */
function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const aborted = () => void unreferenced(GRACE).then(resolve);
    if (signal.aborted) aborted();
    else signal.addEventListener("abort", aborted, { once: true });
  });
}

function complete(offered: OfferedQuestion): TakenQuestion {
  const { question = "", model = "", system = "", prompt = "", output = 0, session = "", purpose = "" } = offered;
  return { question, model, system, prompt, output, session, purpose, until: offered.until ?? "" };
}
