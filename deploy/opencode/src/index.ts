/** Annals for OpenCode: the plugin's hooks. Each of them may fail; none of them lets the harness see it. */

import { Breaker } from "@annals/adapter-core/breaker";
import { digestOfBundle } from "@annals/adapter-core/bundle";
import { callLine } from "@annals/adapter-core/calls";
import { HandOver } from "@annals/adapter-core/compaction";
import { type Options, patience } from "@annals/adapter-core/endpoint";
import { identify, LIMIT } from "@annals/adapter-core/identity";
import { refusalOf } from "@annals/adapter-core/placeholders";
import { Questions, Taker } from "@annals/adapter-core/questions";
import { Service } from "@annals/adapter-core/service";
import { withoutTags } from "@annals/adapter-core/tags";
import { Adapter, workplace } from "./adapter.ts";
import { type Configured, HiddenSessions } from "./answers.ts";
import { type Compacting, previousSummary, replacePrompt } from "./compacting.ts";
import type { BusEvent, Entry, Info, Part, PluginInput } from "./harness.ts";
import { HARNESS, TITLE } from "./identity.ts";
import type { Switches } from "./switches.ts";
import { toolOf, withhold } from "./tools.ts";

declare const ANNALS_VERSION: string;

const BUILD = { version: ANNALS_VERSION, digest: digestOfBundle(import.meta.url) };

/** What OpenCode offers a model as a tool; releases differ in where its schema is. */
interface ToolDefinition {
  description?: string;
  parameters?: unknown;
  jsonSchema?: unknown;
}

/** Milliseconds that the end waits for what is still to be sent; the rest is spooled. */
const CLOSING = 1000;

/** One connection for all directories of a process, and one notice to the person about it. */
let shared: { service: Service; breaker: Breaker; handOver: HandOver; taker: Taker } | undefined;

function sharing(options: Options) {
  const service = new Service({ harness: HARNESS, bundle: import.meta.url }, options);
  const handOver = new HandOver(options.compaction ?? "managed", TITLE, () => service.isComing);
  return { service, breaker: new Breaker(), handOver, taker: new Taker() };
}

async function server(input: PluginInput, options: Options = {}) {
  shared ??= sharing(options);
  const { service, breaker, handOver, taker } = shared;
  const { log } = service;
  const [identity] = await Promise.all([
    identify(workplace(input), service.directory, log, patience(options, LIMIT)),
    service.ready(),
  ]);
  const { guide } = service; // this one for as long as the harness runs: tools and guidance must go together
  const adapter = new Adapter(service, guide, input, BUILD, breaker, handOver, identity);
  const hidden = new HiddenSessions(input.client, log, () => adapter.toolset.names);
  const questions = options.questions ? new Questions(identity.id, service, taker, hidden) : undefined;
  const { tools = [], lines = [] } = guide;
  const modeOf = (session: string) => adapter.session(session).mode;
  const projectOf = (session: string) => adapter.projectOf(adapter.session(session)).id;
  return {
    dispose: () =>
      log.guarded("closing", async () => {
        const late = new Promise((resolve) => setTimeout(resolve, patience(options, CLOSING)));
        await Promise.race([Promise.all([service.outbox.flushed(), questions?.close()]), late]);
        service.outbox.close();
      }),

    // asynchronous, since OpenCode's session hangs on what is thrown here
    event: ({ event }: { event: BusEvent }) =>
      log.guarded(`event ${event.type}`, () => {
        if (!hidden.isOf(event)) adapter.hear(event);
      }),

    config: (config: Configured & { command?: Record<string, unknown>; plugin?: unknown; compaction?: Switches }) =>
      log.guarded("config", () => {
        adapter.govern(config);
        if (questions) hidden.configure(config);
        void log.guarded("looking for rivals", () => adapter.meet(config.plugin));
        const commands = lines.map((line) => [line.name, { description: line.description, template: "$ARGUMENTS" }]);
        config.command = { ...Object.fromEntries(commands), ...config.command };
        const load = () => {
          adapter.known.load();
          questions?.start();
        };
        setTimeout(load, 0).unref(); // OpenCode answers its plugins when all of them are loaded
      }),

    "chat.message": ({ sessionID }: { sessionID: string }, output: { message?: Info } = {}) =>
      log.guarded("chat.message", async () => {
        if (hidden.chooses(sessionID)) return;
        await adapter.prepare(sessionID);
        if (output.message) withhold(output.message, tools, modeOf(sessionID));
      }),

    "tool.definition": ({ toolID }: { toolID: string }, output: ToolDefinition) =>
      log.guarded("tool.definition", () => {
        if (hidden.definesTools) return; // the next call of the session that this may be for defines it again
        const { description = "", parameters, jsonSchema } = output;
        adapter.toolset.see(toolID, { description, schema: jsonSchema ?? parameters });
      }),

    "tool.execute.before": async (
      { tool, sessionID }: { tool: string; sessionID: string },
      { args }: { args: unknown },
    ) => {
      if (hidden.has(sessionID)) return;
      const refusal = await log.guarded("tool.execute.before", () => refusalOf(guide, tool, args, modeOf(sessionID)));
      if (refusal) throw new Error(refusal); // OpenCode has no other way to prevent a call
    },

    "experimental.chat.messages.transform": (_: object, output: { messages: Entry[] }) =>
      log.guarded("transform", async () => {
        const { messages } = output;
        if (messages.length === 0 || hidden.calls(messages)) return;
        const served = await adapter.serve(messages);
        messages.length = 0; // OpenCode reads this very list
        for (const entry of served) messages.push(entry);
      }),

    "experimental.chat.system.transform": ({ sessionID }: { sessionID?: string }, output: { system: string[] }) =>
      log.guarded("system", () => {
        if (!sessionID || hidden.has(sessionID)) return;
        const adjusted = adapter.adjustSystem(sessionID, [...output.system]);
        output.system.length = 0;
        output.system.push(...adjusted);
      }),

    "experimental.session.compacting": ({ sessionID }: { sessionID: string }, output: Compacting) =>
      log.guarded("compacting", async () => {
        if (await hidden.overflowed(sessionID)) return;
        const brief = await adapter.compaction(sessionID);
        if (!brief || options.compaction === "observe") return;
        if (options.compaction !== "replace") output.context.push(brief);
        else replacePrompt(output, brief, await previousSummary(input.client, sessionID));
      }),

    "experimental.text.complete": ({ sessionID = "" }: { sessionID?: string }, output: { text: string }) =>
      log.guarded("text.complete", () => {
        if (!hidden.has(sessionID)) output.text = withoutTags(output.text);
      }),

    "command.execute.before": async (
      called: { command: string; sessionID: string; arguments: string },
      output: { parts?: Partial<Part>[] } = {},
    ) => {
      const line = lines.find(({ name }) => name === called.command);
      if (!line || hidden.has(called.sessionID)) return;
      if (line.augments && called.arguments.trim()) {
        const { parts = [] } = output;
        await log.guarded("adding to a message", () =>
          adapter.augment(called.sessionID, line, called.arguments.trim(), parts),
        );
        return; // OpenCode sends the parts to the model, whatever was added to them
      }
      const text = await callLine(service, projectOf(called.sessionID), called.sessionID, line, called.arguments);
      await log.guarded("showing an answer", () => adapter.show(called.sessionID, text));
      throw new Answered(); // the only way to end a command without a model call that would cost money
    },

    tool: Object.fromEntries(tools.map((tool) => [tool.name, toolOf(service, projectOf, tool, modeOf)])),
  };
}

/** A command has been answered: OpenCode reports this in place of a model's answer. */
class Answered extends Error {
  override readonly name = "Answered";
  constructor() {
    super("The answer is in the session; no model was called.");
  }
}

export default { id: "annals", server };
