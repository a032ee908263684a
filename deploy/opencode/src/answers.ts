/** Questions of the rooms, answered in sessions that nobody sees: made for one question, and deleted with its answer. */

import { randomUUID } from "node:crypto";
import type { Log } from "@annals/adapter-core/log";
import { isAlive } from "@annals/adapter-core/processes";
import { type Answering, type ModelAnswer, modelAnswer, type TakenQuestion } from "@annals/adapter-core/questions";
import { unreferenced, within } from "@annals/adapter-core/timers";
import {
  type BusEvent,
  type Client,
  type Entry,
  type Failure,
  type Info,
  type Session as Seen,
  wordsOf,
} from "./harness.ts";

/** The agent that answers. OpenCode would put its own system prompt of 3,000 tokens before that of the question. */
export const AGENT = "annals-questions";
/** What such a session is called: with the process that made it. */
const TITLE = /^annals-questions (\d+) [0-9a-f-]{36}$/;
const PROMPT = "Answer the question as its instructions say.";
const MOST_SESSIONS = 100_000;
/** Milliseconds that removing what was left may take. */
const SWEEP = 10_000;
/** Milliseconds that OpenCode has to end an answer that was aborted. */
const STOP = 2000;
/** Milliseconds after which no question is being answered any more, whatever process has its number now. */
const OLD = 600_000;
const BUSY = new Set([408, 429, 500, 502, 503, 504, 529]);
const UNSET = "refused: no small model is set in OpenCode";

/** What OpenCode's configuration says, as far as questions go. */
export interface Configured {
  agent?: Record<string, unknown>;
  small_model?: unknown;
}

interface Model {
  providerID: string;
  modelID: string;
}

export class HiddenSessions implements Answering {
  private readonly ids = new Set<string>();
  /** What ends the answer that is under way in a session. */
  private readonly overflows = new Map<string, () => Promise<void>>();
  private small: Model | undefined;
  /** OpenCode is choosing the tools for one of them, and says of no tool for whom it defines it. */
  private isChoosing = false;

  /** `offered`: the names of the tools that models have been offered. */
  constructor(
    private readonly client: Client,
    private readonly log: Log,
    private readonly offered: () => readonly string[],
  ) {}

  /** Add the agent that answers, and learn which model is the small one. */
  configure(config: Configured): void {
    this.small = modelOf(config.small_model);
    const agent = {
      description: "Answers questions of Annals, without tools.",
      mode: "primary", // a model is offered every other one in the description of its tool `task`, hidden or not
      hidden: true,
      prompt: PROMPT,
      permission: { "*": "deny" },
    };
    config.agent = { ...config.agent, [AGENT]: agent };
  }

  has(session: string): boolean {
    return this.ids.has(session);
  }

  /** Whether an event is about one of them. OpenCode reports that a session was created before it says so to whom asked. */
  isOf({ type, properties = {} }: BusEvent): boolean {
    const { sessionID = "", info } = properties;
    if (type.startsWith("session.") && TITLE.test((info as Seen | undefined)?.title ?? "")) this.ids.add(sessionID);
    return this.has(sessionID);
  }

  /** A question has been put into a session: from now on tools are defined for it, until its call is made. */
  chooses(session: string): boolean {
    this.isChoosing = this.isChoosing || this.has(session);
    return this.has(session);
  }

  /** Whether tools may be defined for one of them now. */
  get definesTools(): boolean {
    return this.isChoosing;
  }

  /** Whether a model call is one of theirs; its tools have been chosen. */
  calls(entries: readonly Entry[]): boolean {
    const isTheirs = entries.some(({ info }) => this.has(info.sessionID));
    if (isTheirs) this.isChoosing = false;
    return isTheirs;
  }

  /** OpenCode is about to compact one of them: the question does not fit the model. It waits here until it has aborted
   * that, and makes no call for it. */
  async overflowed(session: string): Promise<boolean> {
    await this.overflows.get(session)?.();
    return this.has(session);
  }

  /** Remove what processes that were killed have left. */
  async begin(): Promise<void> {
    await within(SWEEP, [this.log.guarded("removing left questions", () => this.sweep())]);
  }

  private async sweep(): Promise<void> {
    const query = { search: AGENT, limit: MOST_SESSIONS };
    const { data } = (await this.client._client?.get({ url: "/session", query })) ?? {};
    for (const left of Array.isArray(data) ? (data as Seen[]).filter(isLeft) : []) {
      this.ids.add(left.id);
      await this.remove(left.id);
    }
  }

  async answer(question: TakenQuestion, signal: AbortSignal): Promise<ModelAnswer> {
    const model = question.model === "small" ? this.small : modelOf(question.model);
    if (!model) return modelAnswer({ failure: question.model === "small" ? UNSET : `refused: ${unnamed(question)}` });
    const parent = question.session && (await this.client.session.get({ path: { id: question.session } })).data?.id;
    const made = await this.client.session.create({
      body: {
        title: `${AGENT} ${process.pid} ${randomUUID()}`,
        permission: [{ permission: "*", pattern: "*", action: "deny" }],
        ...(parent && { parentID: parent }),
      },
    });
    const id = made.data?.id;
    if (!id) return modelAnswer({ failure: failureOf(made.error) });
    this.ids.add(id);
    try {
      return { ...(await this.asked(id, question, model, signal)), model: `${model.providerID}/${model.modelID}` };
    } finally {
      this.isChoosing = false;
      await this.remove(id);
    }
  }

  private async asked(id: string, question: TakenQuestion, model: Model, signal: AbortSignal): Promise<ModelAnswer> {
    const tools = await this.tools();
    const { system, prompt } = question;
    const body = { agent: AGENT, model, tools, system, parts: [{ type: "text", text: prompt }] };
    let failure = "";
    let stop: (reason: string) => void = () => undefined;
    const aborted = new Promise<string>((resolve) => {
      stop = resolve;
    }).then((reason) => {
      failure = reason;
      return within(STOP, [this.client.session.abort({ path: { id } })]);
    });
    const stopped = aborted.then(() => unreferenced(STOP)).then(() => undefined);
    signal.addEventListener("abort", () => stop(String(signal.reason)), { once: true });
    this.overflows.set(id, () => {
      stop("overflow");
      return aborted;
    });
    try {
      if (signal.aborted) return modelAnswer({ failure: String(signal.reason) });
      const reply = await Promise.race([this.client.session.prompt({ path: { id }, body }), stopped]);
      if (!reply?.data) return modelAnswer({ failure: failure || failureOf(reply?.error) });
      return answerOf(reply.data, failure);
    } finally {
      this.overflows.delete(id);
    }
  }

  /** All tools, each switched off: those that OpenCode knows, and those that a model was offered. */
  private async tools(): Promise<Record<string, false>> {
    const { data = [] } = (await this.client.tool?.ids()) ?? {};
    return Object.fromEntries(["*", ...data, ...this.offered()].map((name) => [name, false]));
  }

  private async remove(id: string): Promise<void> {
    await this.log.guarded("deleting a question's session", () => this.client.session.delete({ path: { id } }));
  }
}

/** What a finished message answers. `stopped`: why it was aborted; empty: it was not. */
function answerOf({ info, parts }: Entry, stopped: string): ModelAnswer {
  const text = parts.map((part) => (part.type === "text" && !part.synthetic ? (part.text ?? "") : "")).join("");
  const counted = usage(info);
  if (stopped) return modelAnswer({ ...counted, failure: stopped });
  if (info.error) return modelAnswer({ ...counted, failure: failureOf(info.error) });
  return text.trim() ? modelAnswer({ ...counted, text }) : modelAnswer({ ...counted, failure: "empty" });
}

/** OpenCode does not count what the provider's cache knows among the input. */
function usage({ tokens = {}, cost = 0 }: Info): Partial<ModelAnswer> {
  const { input = 0, output = 0, reasoning = 0, cache: { read = 0, write = 0 } = {} } = tokens;
  return { tokens_in: input + read + write, tokens_out: output + reasoning, cached: read, usd: cost };
}

/** Why OpenCode, or the provider behind it, did not answer. */
function failureOf({ name = "", data = {} }: Failure = {}): string {
  const { statusCode = 0 } = data;
  if (name === "MessageAbortedError") return "aborted";
  if (name === "ContextOverflowError" || statusCode === 413) return "overflow";
  if (BUSY.has(statusCode)) return "busy";
  const words = wordsOf({ name, data });
  return name === "ProviderAuthError" || name === "ContentFilterError" || statusCode >= 400
    ? `refused: ${words}`
    : words;
}

/** `provider/model`, where it names both. */
function modelOf(name: unknown): Model | undefined {
  const [providerID = "", ...rest] = typeof name === "string" ? name.split("/") : [];
  const modelID = rest.join("/");
  return providerID && modelID ? { providerID, modelID } : undefined;
}

const unnamed = ({ model }: TakenQuestion) => `${JSON.stringify(model)} is no model of OpenCode; write provider/model`;

/** Whether the process that made a session for a question has ended without deleting it. */
function isLeft({ title = "", time }: Seen): boolean {
  const pid = Number(TITLE.exec(title)?.[1]);
  if (!pid) return false;
  return Date.now() - (time?.created ?? 0) > OLD || !isAlive(pid);
}
