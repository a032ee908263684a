/** A whole adapter, for a harness that keeps a conversation as one list of texts. */

import { randomUUID } from "node:crypto";
import { apply, type Shape } from "@annals/adapter-core/apply";
import { Breaker } from "@annals/adapter-core/breaker";
import type { Options } from "@annals/adapter-core/endpoint";
import { identify } from "@annals/adapter-core/identity";
import type { Item } from "@annals/adapter-core/language";
import { PlanInHand } from "@annals/adapter-core/plan";
import { Project } from "@annals/adapter-core/project";
import { SessionRecord } from "@annals/adapter-core/record";
import { Service } from "@annals/adapter-core/service";
import { StepList } from "@annals/adapter-core/steps";

type Message = { id: string; role: "user" | "assistant"; text: string };
type Part = { id: string; text: string };

const partsOf = ({ id, text }: Message): Part[] => [{ id: `${id}:0`, text }];
const withText = (part: Part, text: string): Part => ({ ...part, text });
const SHAPE: Shape<Message, Part> = {
  id: ({ id }) => id,
  isUser: ({ role }) => role === "user",
  parts: partsOf,
  withParts: (message, parts) => ({ ...message, text: parts.map(({ text }) => text).join("\n") }),
  head: (_, id, text) => ({ id, role: "user", text }),
  pair: (_, id, { output }) => ({ id, text: output }),
  partId: ({ id }) => id,
  isThought: () => false,
  withoutThoughts: (part) => part,
  text: ({ text }) => text,
  withText,
  replaced: withText,
  withOutput: withText,
};

/** Step 1: what the harness saw, in the language of the wire. */
function seen({ id, role, text }: Message): Item {
  return {
    kind: "message.seen",
    message: id,
    role,
    parts: [{ message: id, part: `${id}:0`, position: 0, type: "text", text }],
  };
}

export class Conversation {
  readonly breaker = new Breaker();
  readonly plan: PlanInHand;
  turn: string | undefined;
  private readonly steps: StepList;
  private reported = 0;

  constructor(
    readonly id: string,
    private readonly project: Project,
    service: Service,
  ) {
    const record = new SessionRecord(service.directory, id, service.log);
    this.plan = new PlanInHand(record);
    this.steps = new StepList(record);
  }

  /** Steps 2 and 3, before a model call: open the step, have its plan, and send what that makes of the messages. */
  async serve(messages: readonly Message[]): Promise<Message[]> {
    this.turn = messages.findLast(SHAPE.isUser)?.id;
    await this.project.plan(this, this.project.deadline, (isWhole) => this.open(messages, isWhole));
    return apply(messages, this.plan.edits, SHAPE);
  }

  /** Step 4, after it: what the answer has cost, and that the agent waits for a person again. */
  answered(message: string, input: number, output: number): void {
    const items: Item[] = [{ kind: "usage.seen", message, input, output }, { kind: "session.idle" }];
    this.project.report(this.id, `answer/${message}`, items);
  }

  private open(messages: readonly Message[], isWhole: boolean): string {
    const step = randomUUID();
    const ids = messages.map(({ id }) => id);
    const common = isWhole ? 0 : this.steps.common(ids);
    const listed = messages.slice(common).map((one) => ({ message: one.id, parts: partsOf(one).map(({ id }) => id) }));
    const item = this.steps.open(step, ids, listed, { mode: "primary" }, { common, isWhole });
    this.project.report(this.id, `step/${step}`, [...messages.slice(this.reported).map(seen), item]);
    this.reported = messages.length;
    return step;
  }
}

/** One connection for the process, and the project in this directory. */
export async function connect(
  harness: string,
  root: string,
  options: Options,
): Promise<{ service: Service; project: Project }> {
  const service = new Service({ harness, bundle: import.meta.url }, options);
  const { id } = await identify({ directory: root, root }, service.directory, service.log);
  return { service, project: new Project(id, service, new Breaker(), () => undefined) };
}
