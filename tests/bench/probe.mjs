// The adapter inside OpenCode with a clock at its transform hook: every other call measures a bare turn of the event
// loop at the same spot instead, so that both are seen under the same load.
import { appendFileSync } from "node:fs";

const HOOK = "experimental.chat.messages.transform";

export default {
  id: "probe",
  server: async (input, { adapter, options, log }) => {
    const hooks = adapter ? await (await import(adapter)).default.server(input, options) : {};
    const inner = hooks[HOOK] ?? (async () => {});
    let calls = 0;
    hooks[HOOK] = async (given, output) => {
      calls += 1;
      const isBare = calls % 2 === 0;
      const began = performance.now();
      if (isBare) {
        await new Promise((resolve) => setImmediate(resolve));
        note({ kind: "bare", ms: performance.now() - began });
        await inner(given, output);
      } else {
        await inner(given, output);
        note({ kind: "hook", ms: performance.now() - began });
      }
    };
    const note = (line) => appendFileSync(log, `${JSON.stringify({ ...line, call: calls })}\n`);
    return hooks;
  },
};
