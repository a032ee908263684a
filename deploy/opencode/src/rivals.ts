/** Plugins that change the same prompts: where one of them works, Annals only adds. Pure. */

/** The same as the service's doctor knows. */
export const RIVALS: readonly string[] = [
  "@tarquinen/opencode-dcp",
  "opencode-dcp",
  "opencode-dynamic-context-pruning",
  "@cortexkit/opencode-magic-context",
  "opencode-magic-context",
  "magic-context",
  "opencode-working-memory",
];

/** The first of these plugins that is a rival; empty: none is. They are named as in OpenCode's settings. */
export function rivalOf(plugins: unknown): string {
  const listed = Array.isArray(plugins) ? plugins : [];
  const names = listed.map((plugin) => (Array.isArray(plugin) ? plugin[0] : plugin)).flatMap(namesOf);
  return names.find((name) => RIVALS.includes(name)) ?? "";
}

/** The package of an entry; a file is known by its name, and by the package that it was installed with. */
function namesOf(spec: unknown): string[] {
  if (typeof spec !== "string") return [];
  if (!/^(file:|\/|\.)/.test(spec)) return [packageOf(spec)];
  const path = spec.startsWith("file:") ? decodeURIComponent(new URL(spec).pathname) : spec;
  const parts = path.split("/").filter(Boolean);
  const behind = parts.lastIndexOf("node_modules") + 1;
  if (behind > 0) return [packageOf(parts.slice(behind, behind + 2).join("/"))];
  const name = parts.at(-1) ?? "";
  return [name.replace(/(?<=.)\.[^.]*$/, ""), name];
}

/** Without version, alias and path. */
function packageOf(spec: string): string {
  const alias = spec.indexOf("@npm:");
  const name = ((alias < 0 ? "" : spec.slice(alias + "@npm:".length)) || spec).trim();
  const slash = name.indexOf("/");
  const isScoped = name.startsWith("@") && slash >= 0;
  const scope = isScoped ? name.slice(0, slash + 1) : "";
  return scope + name.slice(scope.length).replace(/[@/].*$/s, "");
}
