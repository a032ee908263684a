/** Which tools a call offers, and which calls are none of the session's own, as OpenCode decides it. Pure. */

import type { Agent, Info, Rule, Session as Seen } from "./harness.ts";

/** OpenCode's own helpers, by the names that they have had in every release. */
const HELPERS = new Set(["title", "summary", "compaction"]);
/** Tools that OpenCode's rules know by the name of another. */
const RULED_AS: Readonly<Record<string, string>> = {
  write: "edit",
  apply_patch: "edit",
  list_mcp_resources: "read",
  list_mcp_resource_templates: "read",
  read_mcp_resource: "read",
};

/** Those of these tools that a call does not offer: switched off by the person's message, or by the last rule on them. */
export function denied(tools: readonly string[], switches: Info["tools"], rules: readonly Rule[]): string[] {
  return tools.filter((tool) => switches?.[tool] === false || isOff(RULED_AS[tool] ?? tool, rules));
}

/** A rule about a part of what a tool does leaves the tool itself on offer. */
function isOff(tool: string, rules: readonly Rule[]): boolean {
  const last = rules.findLast((rule) => isMatch(tool, rule.permission));
  return last?.pattern === "*" && last.action === "deny";
}

/** `*` stands for any characters, `?` for one. */
function isMatch(tool: string, pattern: string): boolean {
  if (!/[*?]/.test(pattern)) return tool === pattern;
  const quoted = pattern.replace(/[.+^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`^${quoted.replaceAll("*", ".*").replaceAll("?", ".")}$`, "s").test(tool);
}

/** The rules of a session or an agent; whatever else the harness lists there is left out. */
export const rulesOf = (value: unknown): Rule[] => (Array.isArray(value) ? value.filter(isRule) : []);

const isRule = (one: Partial<Rule> | null) => typeof one?.permission === "string" && typeof one.pattern === "string";

/** Whether an agent works for the harness or a plugin, behind the person's back. */
export const isHelperAgent = (name: string, agent: Agent | undefined) => HELPERS.has(name) || agent?.hidden === true;

/** Whether an agent started this session to have work done: then it is no helper's, whoever does the work. */
export const isDelegated = ({ agent, parentID, title = "" }: Seen) =>
  parentID !== undefined && agent !== undefined && title.endsWith(`(@${agent} subagent)`);

/** Whether a system prompt is that of a helper, by the harness's prompts; `own` is the agent of the session. */
export function isHelperPrompt(system: readonly string[], agents: Iterable<Agent>, own: string): boolean {
  const known = [...agents];
  const others = known.filter((agent) => agent.name !== own && isHelperAgent(agent.name, agent));
  const ownPrompt = known.find((agent) => agent.name === own)?.prompt;
  const [text = ""] = system;
  return others.some(
    ({ prompt }) => Boolean(prompt) && prompt !== ownPrompt && (text === prompt || text.startsWith(`${prompt}\n`)),
  );
}
