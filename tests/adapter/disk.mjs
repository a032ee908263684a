// The adapter's core on a disk that may be full or break off, with a clock that is moved by hand.
import fs, { mkdirSync } from "node:fs";
import { createRequire, syncBuiltinESMExports } from "node:module";
import { join } from "node:path";

/** `state`: "well", "full" (nothing is written), "cuts" (half of it is) or "fixed" (nothing goes either); `writes`: how often something was to be written. */
export const disk = { state: "well", writes: 0 };

for (const name of ["writeFileSync", "appendFileSync"]) {
  const own = fs[name];
  fs[name] = (path, text, ...rest) => {
    disk.writes += 1;
    if (disk.state === "cuts") own(path, text.slice(0, text.length / 2), ...rest);
    if (disk.state !== "well") throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
    own(path, text, ...rest);
  };
}
const { rmSync } = fs;
fs.rmSync = (...given) => {
  if (disk.state === "fixed") throw Object.assign(new Error("read-only file system"), { code: "EROFS" });
  rmSync(...given);
};
syncBuiltinESMExports();

let now = 0;
const timers = [];
globalThis.setTimeout = (work, milliseconds = 0) => {
  timers.push({ at: now + milliseconds, work });
  return { unref() {} };
};

/** Until all that is under way waits for the clock. */
export const settled = () => new Promise((resolve) => setImmediate(resolve));

export async function pass(milliseconds) {
  const end = now + milliseconds;
  for (;;) {
    timers.sort((one, other) => one.at - other.at);
    if (!timers[0] || timers[0].at > end) break;
    const { at, work } = timers.shift();
    now = at;
    work();
    await settled();
  }
  now = end;
}

/** What these modules of the core export. */
export async function core(folder, ...modules) {
  const { buildSync } = createRequire(join(folder, "package.json"))("esbuild");
  const contents = modules.map((name) => `export * from "./${name}.ts";`).join("\n");
  const stdin = { contents, resolveDir: join(folder, "..", "adapter-core", "src") };
  const { outputFiles } = buildSync({ stdin, bundle: true, platform: "node", format: "esm", write: false });
  return await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
}

export const made = (directory) => {
  mkdirSync(directory, { recursive: true });
  return directory;
};
