// Holds, line by line, a conversation through the example of an adapter, with whatever installation it is sent to.
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";

const [core, options, root] = process.argv.slice(2);
const { buildSync } = createRequire(join(core, "package.json"))("esbuild");
const outfile = join(root, "example.mjs");
buildSync({
  entryPoints: [join(core, "example", "adapter.ts")],
  banner: { js: 'import{createRequire}from"node:module";const require=createRequire(import.meta.url);' },
  bundle: true,
  platform: "node",
  format: "esm",
  outfile,
});
const { connect, Conversation } = await import(outfile);

const { service, project } = await connect("example", root, JSON.parse(options));
await service.ready();
const conversation = new Conversation("talk", project, service);
for await (const line of createInterface({ input: process.stdin })) {
  const { messages, answer } = JSON.parse(line);
  const served = messages ? await conversation.serve(messages) : conversation.answered(answer, 100, 10);
  await service.outbox.flushed();
  console.log(JSON.stringify(served ?? null));
}
process.exit(0); // the connection is made again for ever
