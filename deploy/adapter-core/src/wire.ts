/** The types of the wire, generated from `schemas/json`: `make schema` writes this file. */

/**
 * One message on `in.<harness>.<project>.<session>`; its id is its `Nats-Msg-Id`.
 */
export interface Inbound {
  id: string;
  at: string;
  items: (
    | AdapterSeen
    | SessionSeen
    | SessionIdle
    | SessionClosed
    | SessionReverted
    | MessageSeen
    | MessageGone
    | PartSeen
    | PartGone
    | UsageSeen
    | ErrorSeen
    | CompactionSeen
    | TodoSeen
    | ToolsSeen
    | DocumentSeen
    | ListSeen
    | StepSeen
  )[];
  v?: number;
  actor?: Actor;
  /**
   * The project of the subject, where it is given: a message that names another project is refused. So is the session.
   */
  project?: string;
  session?: string;
}
/**
 * The part of us that sits in the harness says what it is.
 */
export interface AdapterSeen {
  kind: "adapter.seen";
  name: string;
  version: string;
  harness_version?: string;
  /**
   * sha256 of the bundle that it was loaded from.
   */
  digest?: string;
  /**
   * Another plugin of the harness that changes the same prompts; empty: none was seen.
   */
  rival?: string;
}
/**
 * A session exists, or one of these properties of it changed. Empty fields say nothing.
 */
export interface SessionSeen {
  kind: "session.seen";
  title?: string;
  parent?: string;
  directory?: string;
  agent?: string;
  mode?: "additive" | "hidden" | "primary" | "reduce_off" | "subagent";
  /**
   * The harness's version.
   */
  version?: string;
  /**
   * The session that this one was copied from.
   */
  forked_from?: string;
  /**
   * The last message of that session that was copied.
   */
  forked_at?: string;
  /**
   * The root directory of the project (its work tree).
   */
  root?: string;
  /**
   * The project's version control: `git`, or nothing.
   */
  vcs?: string;
  /**
   * Whether the project is a home directory: its sessions are about anything, not about one project.
   */
  home?: boolean;
  /**
   * The name under which the same project was reported from here before; adapters of today say `former`.
   */
  formerly?: string;
  /**
   * The names under which the same project was reported from here before, the newest first.
   */
  former?: string[];
}
/**
 * The agent has finished its turn and waits for a person.
 */
export interface SessionIdle {
  kind: "session.idle";
}
/**
 * The session was deleted or archived in the harness.
 */
export interface SessionClosed {
  kind: "session.closed";
  reason?: string;
}
/**
 * The person went back: this message and all after it are no longer part of the conversation.
 */
export interface SessionReverted {
  kind: "session.reverted";
  message: string;
}
/**
 * One message, with the parts that are known of it.
 */
export interface MessageSeen {
  kind: "message.seen";
  message: string;
  role: "assistant" | "system" | "tool" | "user";
  /**
   * When the harness created it.
   */
  at?: string | null;
  agent?: string;
  provider?: string;
  model?: string;
  synthetic?: boolean;
  parts?: PartSeen[];
}
/**
 * One part of a message, whole. A later one with the same id replaces it.
 */
export interface PartSeen {
  kind: "part.seen";
  message: string;
  type: "compaction" | "file" | "reasoning" | "text" | "tool" | "tool_call" | "tool_result";
  /**
   * The harness's id of the part; without one it is named after its message and position.
   */
  part?: string;
  /**
   * Index in the message's full list of parts.
   */
  position?: number;
  /**
   * Text of a text or reasoning part, the summary of a compaction, the url of a file.
   */
  text?: string;
  tool?: string;
  /**
   * The provider's tool call id; it may come back in a later message.
   */
  call?: string;
  /**
   * Arguments of the tool as JSON.
   */
  input?: string;
  /**
   * The tool's answer, or its error text.
   */
  output?: string;
  /**
   * The attachments that a tool returned in addition to its text.
   */
  attachments?: Attachment[];
  status?: "" | "completed" | "error" | "pending" | "running";
  mime?: string;
  /**
   * The name of a file.
   */
  filename?: string;
  /**
   * Whether a reasoning part carries the provider's signature.
   */
  signed?: boolean;
  /**
   * Shown to the person only; the model never sees it.
   */
  ignored?: boolean;
  synthetic?: boolean;
  /**
   * Made by the harness for one call only, under a new id each time: left alone.
   */
  ephemeral?: boolean;
  /**
   * sha256 of a text in the bucket of inbound bodies; `text` is then empty. The same for the two below.
   */
  text_ref?: string;
  input_ref?: string;
  output_ref?: string;
  /**
   * A command's exit code, where the harness reports it.
   */
  exit_code?: number | null;
  began?: string | null;
  ended?: string | null;
  /**
   * The session that this call started: a sub-agent.
   */
  child?: string;
  /**
   * The harness vouches that a person has typed this text in this message. Else the text is the harness's word.
   */
  typed?: boolean;
  /**
   * The harness has put the whole of what was typed into `"`, and a backslash before each `"` within.
   */
  quoted?: boolean;
}
/**
 * A picture or a document in a message. Its content stays with the harness.
 */
export interface Attachment {
  mime?: string;
  filename?: string;
  /**
   * Its size; 0: it is somewhere else.
   */
  bytes?: number;
  /**
   * In pixels; 0: it is no picture, or its size is not known. The same for the next one.
   */
  width?: number;
  height?: number;
  /**
   * sha256 of its bytes in hex, or of its address where it is somewhere else.
   */
  digest?: string;
}
/**
 * A message was deleted in the harness.
 */
export interface MessageGone {
  kind: "message.gone";
  message: string;
}
/**
 * A part was deleted in the harness.
 */
export interface PartGone {
  kind: "part.gone";
  message: string;
  part: string;
}
/**
 * The provider's count for one answer, in tokens. `input` excludes what the cache served or stored.
 */
export interface UsageSeen {
  kind: "usage.seen";
  message: string;
  input: number;
  output?: number;
  reasoning?: number;
  cache_read?: number;
  cache_write?: number;
  /**
   * US dollars, as the harness reckons.
   */
  cost?: number;
}
/**
 * The provider or the harness refused: the text as it came.
 */
export interface ErrorSeen {
  kind: "error.seen";
  text: string;
  message?: string;
  /**
   * The harness's name of this kind of error.
   */
  name?: string;
  /**
   * The HTTP status; 0: there was none.
   */
  status?: number;
}
/**
 * The harness itself summarised the session.
 */
export interface CompactionSeen {
  kind: "compaction.seen";
  /**
   * Whether it did so of its own accord, not because a person asked.
   */
  auto?: boolean;
  /**
   * The message that holds the summary.
   */
  summary?: string;
}
/**
 * The whole list of what there is to do, as it is now.
 */
export interface TodoSeen {
  kind: "todo.seen";
  items: Todo[];
}
/**
 * One line of an agent's list of what there is to do, in the harness's words.
 */
export interface Todo {
  content: string;
  status?: string;
  priority?: string;
}
/**
 * The tools that a model is offered from now on.
 */
export interface ToolsSeen {
  kind: "tools.seen";
  /**
   * Names the set: the same tools have the same.
   */
  digest: string;
  tools: ToolSeen[];
}
/**
 * One tool as a model is offered it.
 */
export interface ToolSeen {
  name: string;
  description?: string;
  /**
   * JSON Schema of its arguments.
   */
  parameters?: string;
}
/**
 * A document of the project, as it is now.
 */
export interface DocumentSeen {
  kind: "document.seen";
  /**
   * Relative to the project's root.
   */
  path: string;
  /**
   * sha256 of its bytes in hex; empty: it is gone.
   */
  digest: string;
  text?: string;
  /**
   * sha256 of a text that is stored in the bucket of inbound bodies; `text` is then empty.
   */
  text_ref?: string;
}
/**
 * The list of messages after `after` is now this one: a long list comes in pieces, the step last.
 */
export interface ListSeen {
  kind: "list.seen";
  after?: string;
  messages?: Listed[];
}
/**
 * One message that is about to be sent, by id.
 */
export interface Listed {
  message: string;
  /**
   * The parts that are sent, in order; empty means all that are known.
   */
  parts?: string[];
}
/**
 * One model call is about to be made: everything up to `after` as in the call before, then `messages`.
 */
export interface StepSeen {
  kind: "step.seen";
  step: string;
  /**
   * The step before, if this one is reported as a difference to it.
   */
  previous?: string;
  /**
   * The last message that both have in common; empty: the list is reported from its start.
   */
  after?: string;
  messages?: Listed[];
  /**
   * The number of messages in the whole list: the check that both sides mean the same list.
   */
  count?: number;
  /**
   * The plan's revision that the call before was made with; -1: not known.
   */
  served?: number;
  /**
   * The last message with which the call before began as well, where the list is reported from its start.
   */
  sent?: string;
  agent?: string;
  mode?: "additive" | "hidden" | "primary" | "reduce_off" | "subagent";
  provider?: string;
  model?: string;
  /**
   * Tokens the model takes in, as the harness knows it; 0: not known.
   */
  context_limit?: number;
  output_limit?: number;
  capabilities?: (
    | "accepts_empty_content"
    | "binds_signed_thinking"
    | "caches_exact_prefix"
    | "merges_adjacent_assistants"
    | "requires_alternation"
    | "requires_reasoning_on_tool_calls"
  )[];
  /**
   * Digest of the system prompt; empty: not known.
   */
  system_digest?: string;
  /**
   * Digest of the set of tools (`tools.seen`) that this call offers.
   */
  toolset?: string;
  /**
   * Tools that are switched off for this call.
   */
  denied?: string[];
  /**
   * The model's way of reasoning, where the harness has a choice of that.
   */
  variant?: string;
  /**
   * Whether the harness compacts a session that fills the window, if the service lets it.
   */
  compacts?: boolean;
}
/**
 * The author of a fact or a command. In a fact the kind follows from the subject that its message came on.
 */
export interface Actor {
  kind: "agent" | "harness" | "person" | "room";
  /**
   * The name that the sender gives itself.
   */
  id?: string;
  /**
   * In a fact: the kind of sender that a harness claimed to be, where a harness may not claim it.
   */
  claimed?: ("agent" | "harness" | "person" | "room") | "";
}
/**
 * What should this step's messages look like? Asked right before each model call.
 */
export interface TransformAsk {
  project: string;
  session: string;
  step: string;
  /**
   * The newest revision the asker holds; the reply carries what came after it.
   */
  base_revision?: number;
  /**
   * After this time the asker no longer listens.
   */
  deadline_ms?: number;
}
/**
 * What is known that bears on these words?
 */
export interface SearchAsk {
  project: string;
  query: string;
  /**
   * The session that asks: what its prompt shows already is not repeated. Empty: a person asks, in none.
   */
  session?: string;
  /**
   * The sources to search; empty: all. Unknown ones are left out, and the reply names them; an error where all are unknown.
   */
  sources?: string[];
  /**
   * Only from these.
   */
  sessions?: string[];
  /**
   * Only what these have written, by their ids.
   */
  actors?: string[];
  since?: string | null;
  until?: string | null;
  /**
   * Only what is made of facts up to this position of the log; 0: all.
   */
  as_of?: number;
  /**
   * Wait a little until the index has read the log up to this position. What was confirmed to be remembered or noted before the question was sent is waited for in any case.
   */
  min_seq?: number;
  /**
   * Milliseconds after which the asker no longer listens: what is found by then is the reply. 0: a few seconds. Below 500 the index is searched as it was up to a minute ago, and what is in the prompt already is not looked for.
   */
  deadline_ms?: number;
  /**
   * At most 25 for a session, and 200 for a person.
   */
  limit?: number;
  /**
   * `session`: of each session only what fits best.
   */
  group?: "" | "session";
}
/**
 * What of the project helps with this request? At most three searches and one question to a model answer it.
 */
export interface AugmentAsk {
  project: string;
  /**
   * The request, as a person has typed it.
   */
  text?: string;
  /**
   * The session in which it is made: what its prompt shows already is not repeated. Empty: in none.
   */
  session?: string;
}
/**
 * What does this session have before it now, word for word or in its head? Asked by rooms.
 */
export interface ServedAsk {
  project: string;
  session: string;
}
/**
 * How far has the index read the log? Asked by rooms. The answer waits for a position, which is written at once.
 */
export interface IndexPositionAsk {
  /**
   * The position that the asker waits for; 0: none.
   */
  seq?: number;
  /**
   * After this time the asker no longer listens.
   */
  deadline_ms?: number;
}
/**
 * How is this room? Its subject has the name of the room in place of a project: `ask.health.tagger`.
 */
export interface HealthAsk {}
/**
 * One read-only query over a copy of the views, or the next page of what it found. Asked by people.
 */
export interface SqlAsk {
  sql?: string;
  /**
   * The most rows of all pages together.
   */
  max_rows?: number;
  timeout_ms?: number;
  /**
   * Of the reply to an earlier question: its next page is wanted, and `sql` is not looked at.
   */
  cursor?: string;
}
/**
 * Leave a copy of the views where other processes can read it. Asked by rooms.
 */
export interface ViewsCopyAsk {}
/**
 * Which runs that compress history are open, or were the last of their session and failed?
 */
export interface HistoryRunsAsk {
  /**
   * The most runs that are wanted, the newest first.
   */
  limit?: number;
}
/**
 * Which runs of the dreamer were there last, and what came of them?
 */
export interface DreamsAsk {
  /**
   * Of this project; empty: of all.
   */
  project?: string;
  /**
   * The most runs that are wanted, the newest first.
   */
  limit?: number;
  /**
   * Only the newest run of each project.
   */
  newest?: boolean;
}
/**
 * Which adapter of a harness connected last?
 */
export interface LastAdapterAsk {
  harness: string;
}
/**
 * Which project is worked on in a folder, or has one of these names?
 */
export interface ProjectAtAsk {
  /**
   * The folder and those around it, in any order: the innermost in which a harness has worked decides.
   */
  folders?: string[];
  /**
   * The possible names of the project: looked for where the folders have none.
   */
  names?: string[];
}
/**
 * Which other names do projects have, and which did harnesses claim?
 */
export interface AliasesAsk {}
/**
 * Which projects are there?
 */
export interface ProjectsAsk {}
/**
 * What has a project set for itself, and which of its files are wanted because of that? Asked by adapters, too.
 */
export interface ProjectSettingsAsk {
  project: string;
  /**
   * Only what was set under this very name, also where it leads to another project.
   */
  is_of_name?: boolean;
}
/**
 * Which files were proposed as key files of a project, and what was decided?
 */
export interface KeyFilesAsk {
  project: string;
}
/**
 * Which changes of documents were proposed for a project, and what was decided?
 */
export interface DocsAsk {
  project: string;
}
/**
 * What is known of the person who works in a directory, and is it collected and used?
 */
export interface ProfileAsk {
  directory: string;
}
/**
 * What do these texts mean, as vectors? Asked by rooms. Without texts the reply only names the model.
 */
export interface EmbedAsk {
  texts?: string[];
  /**
   * Somebody waits for a query: it goes first.
   */
  purpose?: "query" | "text";
  /**
   * Whether each token's vector is wanted, too.
   */
  tokens?: boolean;
}
/**
 * Does the model that makes vectors answer? For a person.
 */
export interface ProbeAsk {}
/**
 * What did the agent see at this step, and which facts made it so?
 */
export interface ExplainAsk {
  project: string;
  /**
   * Its id, or the beginning of one where only one session begins so.
   */
  session: string;
  /**
   * Its id, the beginning of one, or the number of the call in its session, from 1 on. Empty: the newest.
   */
  step?: string;
  /**
   * Only the edit of this part.
   */
  part?: string;
  max_edits?: number;
  /**
   * Whether edits that do nothing but show a tag are among them.
   */
  tags?: boolean;
}
/**
 * How is the responder?
 */
export interface StatusAsk {}
/**
 * What should an adapter offer and say? The answer is the same until the service or its settings change.
 */
export interface ClientManifestAsk {
  project?: string;
  harness?: string;
  /**
   * The verbs of calls that the adapter knows; none: `ask`, and `wish` for commands.
   */
  verbs?: ("ask" | "command" | "wish")[];
}
/**
 * How does this session stand? For a person.
 */
export interface SessionAsk {
  project: string;
  session: string;
}
/**
 * What are the exact words of a session? One of: a range of messages, a message, a tag, a compartment.
 */
export interface ExpandAsk {
  project: string;
  session: string;
  /**
   * The first message of a range, as history counts them.
   */
  start?: number;
  /**
   * The last message of the range; 0: only the first.
   */
  end?: number;
  /**
   * A message by its number or by its id.
   */
  message?: string;
  tag?: number;
  /**
   * A part of history, by its id or by any message in it.
   */
  compartment?: string;
  /**
   * Whether a range is shown with everything: arguments and outputs of tools, too.
   */
  verbose?: boolean;
  /**
   * Of what is longer than one answer.
   */
  page?: number;
  /**
   * The session that asks. What is quarantined is returned to no other session.
   */
  asker?: string;
}
/**
 * What must the harness's own summary of this session carry on?
 */
export interface CompactionContextAsk {
  project: string;
  session: string;
}
/**
 * What does the project remember?
 */
export interface MemoryAsk {
  project: string;
  /**
   * The session that asks, or about whose head is asked.
   */
  session?: string;
  view?: "history" | "list" | "missing" | "notes" | "policy" | "quality" | "read" | "review" | "twins" | "why";
  /**
   * The memory that is asked about, or the beginning of its id.
   */
  id?: string;
  /**
   * The position in the log up to which facts count; 0: all of them.
   */
  as_of?: number;
  /**
   * Of `read`: words that a memory or a note must hold, or one category. Of `list` and `notes`: a status.
   */
  filter?: string;
  /**
   * Of `list`: at most 1,000 memories come at once.
   */
  page?: number;
}
/**
 * Is there a question for a model that nobody else has taken? The answer waits for one, until the deadline.
 */
export interface QuestionAsk {
  project: string;
  /**
   * Its kind, by the name under which its events are sent.
   */
  harness: string;
  /**
   * One id for each process of a harness. What was taken under it is offered to it again, as long as it is not answered: the answer to `question.take` may have been lost.
   */
  taker: string;
  /**
   * Questions that the process has begun to answer. While they are its own they are not offered to it again.
   */
  begun?: string[];
  /**
   * After this time the asker no longer listens.
   */
  deadline_ms?: number;
}
/**
 * What was erased? Asked by adapters at each connect, before they send what they have stored.
 */
export interface ErasuresAsk {
  project?: string;
  /**
   * The position of the log behind which the orders are wanted.
   */
  since?: number;
}
/**
 * What have background models cost by now, and what may they cost? The answer is as the desk decides by it.
 */
export interface SpendingAsk {
  /**
   * With the budget of this project; empty: that of the installation alone.
   */
  project?: string;
}
/**
 * The reply to `ask.transform`.
 */
export interface Plan {
  /**
   * `late`: the step was not read in time. `resync`: send the whole list. Both: go on with the plan you have.
   */
  status: "failed" | "late" | "ready" | "resync";
  pass?: "" | "extend" | "rebase" | "replay";
  revision?: number;
  revisions?: Revision[];
  /**
   * There are further revisions: ask again from the newest of these.
   */
  more?: boolean;
  /**
   * Estimated tokens of the listed messages as the harness holds them.
   */
  tokens_before?: number;
  /**
   * The same of what is served.
   */
  tokens_after?: number;
  reason?: string;
  /**
   * Sentences for the person, not for the model.
   */
  notices?: string[];
  /**
   * The prompt is longer than the model takes, and nobody but the harness can make it smaller in this turn: it may compact by itself.
   */
  full?: boolean;
}
/**
 * One step of a plan's history, as a harness gets it.
 */
export interface Revision {
  revision: number;
  edits: (
    | CutBefore
    | SetHead
    | PrefixText
    | ReplaceText
    | AppendText
    | ReplaceOutput
    | OmitPart
    | OmitMessage
    | OmitArc
    | InsertPair
    | Restore
    | Withdraw
  )[];
  /**
   * The causes for which covered messages changed; empty for an extension, which changes none.
   */
  causes?: string[];
}
/**
 * Everything before this message is left out but some parts. There is one cut; a newer one replaces it.
 */
export interface CutBefore {
  op: "cut_before";
  message: string;
  /**
   * Parts of the messages before it that stay in their places: what is still worked with, as it was shown.
   */
  kept?: string[];
  /**
   * Log positions of the facts that led to it.
   */
  by?: number[];
  /**
   * The lane that decided it, and its depth: `drops`, `caveman:2`. Empty: the tags.
   */
  lane?: string;
}
/**
 * A synthetic user message at the head of the list: slot 0 is the project, slot 1 the history. Empty text: none.
 */
export interface SetHead {
  op: "set_head";
  slot: number;
  text: string;
  /**
   * Log positions of the facts that led to it.
   */
  by?: number[];
  /**
   * The lane that decided it, and its depth: `drops`, `caveman:2`. Empty: the tags.
   */
  lane?: string;
}
/**
 * Put `text` before the part's text (a tool's: its output), after removing tags that stand there already.
 */
export interface PrefixText {
  op: "prefix_text";
  part: string;
  text: string;
  /**
   * Log positions of the facts that led to it.
   */
  by?: number[];
  /**
   * The lane that decided it, and its depth: `drops`, `caveman:2`. Empty: the tags.
   */
  lane?: string;
}
/**
 * The part's text is this one (a file part becomes a text part).
 */
export interface ReplaceText {
  op: "replace_text";
  part: string;
  text: string;
  /**
   * Log positions of the facts that led to it.
   */
  by?: number[];
  /**
   * The lane that decided it, and its depth: `drops`, `caveman:2`. Empty: the tags.
   */
  lane?: string;
}
/**
 * Put `text` behind the part's text.
 */
export interface AppendText {
  op: "append_text";
  part: string;
  text: string;
  /**
   * Log positions of the facts that led to it.
   */
  by?: number[];
  /**
   * The lane that decided it, and its depth: `drops`, `caveman:2`. Empty: the tags.
   */
  lane?: string;
}
/**
 * The tool's output is this text; its arguments stay as they were.
 */
export interface ReplaceOutput {
  op: "replace_output";
  part: string;
  text: string;
  /**
   * Log positions of the facts that led to it.
   */
  by?: number[];
  /**
   * The lane that decided it, and its depth: `drops`, `caveman:2`. Empty: the tags.
   */
  lane?: string;
}
/**
 * The part is left out.
 */
export interface OmitPart {
  op: "omit_part";
  part: string;
  /**
   * Log positions of the facts that led to it.
   */
  by?: number[];
  /**
   * The lane that decided it, and its depth: `drops`, `caveman:2`. Empty: the tags.
   */
  lane?: string;
}
/**
 * The message is left out with all its parts.
 */
export interface OmitMessage {
  op: "omit_message";
  message: string;
  /**
   * Log positions of the facts that led to it.
   */
  by?: number[];
  /**
   * The lane that decided it, and its depth: `drops`, `caveman:2`. Empty: the tags.
   */
  lane?: string;
}
/**
 * A tool call and its result are left out together. `parts` are the one or two parts that hold them.
 */
export interface OmitArc {
  op: "omit_arc";
  part: string;
  parts: string[];
  /**
   * Log positions of the facts that led to it.
   */
  by?: number[];
  /**
   * The lane that decided it, and its depth: `drops`, `caveman:2`. Empty: the tags.
   */
  lane?: string;
}
/**
 * A finished tool call is added at the end of this message.
 */
export interface InsertPair {
  op: "insert_pair";
  message: string;
  call: string;
  tool: string;
  input: string;
  output: string;
  /**
   * Log positions of the facts that led to it.
   */
  by?: number[];
  /**
   * The lane that decided it, and its depth: `drops`, `caveman:2`. Empty: the tags.
   */
  lane?: string;
}
/**
 * The part is served as the harness holds it: an earlier edit of it is withdrawn.
 */
export interface Restore {
  op: "restore";
  part: string;
  /**
   * Log positions of the facts that led to it.
   */
  by?: number[];
  /**
   * The lane that decided it, and its depth: `drops`, `caveman:2`. Empty: the tags.
   */
  lane?: string;
}
/**
 * The edit with this target (see `target`) is withdrawn, whatever it was.
 */
export interface Withdraw {
  op: "withdraw";
  what: string;
  /**
   * Log positions of the facts that led to it.
   */
  by?: number[];
  /**
   * The lane that decided it, and its depth: `drops`, `caveman:2`. Empty: the tags.
   */
  lane?: string;
}
/**
 * The reply to `ask.search`; what fits best comes first.
 */
export interface Hits {
  hits?: Hit[];
  /**
   * The session that the query names; then the hits are messages of it.
   */
  session?: FoundSession | null;
  /**
   * The hits that the session that asks has before it already, where nothing else is known.
   */
  in_prompt?: Hit[];
  /**
   * Those of the sessions that were asked for of which nothing is indexed.
   */
  unknown?: string[];
  /**
   * The sources that were searched.
   */
  searched?: ("commit" | "compartment" | "memory" | "message" | "note" | "output")[];
  /**
   * The parts that could not be searched as they should have been, each with the reason.
   */
  degraded?: string[];
  /**
   * The position of the log up to which all was searched.
   */
  read_through?: number;
  /**
   * The reason why the index cannot be written now, so that it may lack what the log has; empty: it can, as far as is known.
   */
  index_failure?: string;
  /**
   * Whether the index lacks something that the log had when the question came, or nobody knows whether it does.
   */
  is_behind?: boolean;
  /**
   * The same for an agent to read.
   */
  text?: string;
  error?: string;
}
/**
 * Something that was found.
 */
export interface Hit {
  source: "commit" | "compartment" | "memory" | "message" | "note" | "output";
  /**
   * Of the message, memory, compartment or note; of a commit its whole sha; of outputs the message that has them.
   */
  id: string;
  /**
   * The score of how well it fits whatever else there is, from 0 to 1.
   */
  score: number;
  /**
   * Of its text, where it fits; of outputs the name with the names next to it there.
   */
  fragment?: string;
  /**
   * The reasons why it fits: words of the query, something that it has word for word, or its meaning.
   */
  why?: string[];
  session?: string;
  /**
   * Of a message, and of its outputs, its place in its session; of a compartment the first one that it covers.
   */
  ordinal?: number;
  /**
   * The first of the messages around it that are worth reading for who wants to know more.
   */
  first?: number;
  /**
   * The last of the messages around it that are worth reading.
   */
  last?: number;
  at?: string | null;
  actor?: string;
  /**
   * Of a message `user`, `assistant` or `task`: what an agent asks of one that it started. Of a memory its class.
   */
  role?: string;
  /**
   * Of a commit some of the paths that it touches.
   */
  files?: string[];
}
/**
 * A session that a query names by its id, or by the beginning of it.
 */
export interface FoundSession {
  session: string;
  /**
   * The number of its messages that can be found.
   */
  messages?: number;
  /**
   * The number of parts of its history that can be found.
   */
  compartments?: number;
  /**
   * The number of its newest message that has one.
   */
  last?: number;
  began?: string | null;
  ended?: string | null;
}
/**
 * The reply to `ask.augment`.
 */
export interface Augmentation {
  /**
   * The hits that help: where each was found, and as its fragment the words that are quoted.
   */
  hits?: Hit[];
  /**
   * The same to read. For a session it is the element that goes out behind the request, where there are hits.
   */
  text?: string;
  /**
   * The way in which the hits were chosen, in a sentence for the person.
   */
  notice?: string;
  /**
   * The model that has chosen them; empty: they are the best hits of the searches.
   */
  model?: string;
  /**
   * The queries that were searched for.
   */
  searches?: string[];
  /**
   * The parts that could not be searched as they should have been, each with the reason.
   */
  degraded?: string[];
  error?: string;
}
/**
 * The reply to `ask.served`.
 */
export interface Served {
  /**
   * Whose text is sent as it is.
   */
  messages?: string[];
  /**
   * The messages of which the outputs of tools are sent as they are.
   */
  outputs?: string[];
  memories?: string[];
  compartments?: string[];
  /**
   * Sessions of the project of which all is taken back: no other session gets their messages.
   */
  quarantined?: string[];
  /**
   * Single messages of which that is so: their session, and their id.
   */
  quarantined_messages?: never[][];
  /**
   * Whether this is what is so: not where the question could not be answered.
   */
  is_known?: boolean;
  error?: string;
}
/**
 * The reply to `ask.index_position`.
 */
export interface IndexPosition {
  /**
   * All up to this position is in the index.
   */
  through?: number;
  error?: string;
  /**
   * The reason why the index cannot be written now; empty: it can.
   */
  failure?: string;
}
/**
 * The reply to `ask.health`: what every room reports at `/healthz`.
 */
export interface RoomHealth {
  room: string;
  /**
   * Whether it can do its work.
   */
  ok: boolean;
  /**
   * The things that it cannot do now, each with the reason.
   */
  failures?: string[];
  /**
   * The position of the log up to which it has written what it makes of the log; None: it makes nothing of it, or it is not known yet.
   */
  committed_through?: number | null;
  /**
   * Facts that can be read and that a state of this room could not take in since the room began.
   */
  unfolded?: number;
  /**
   * The last of them, the newest first.
   */
  newest_unfolded?: UnfoldedFact[];
}
/**
 * A fact of the log that can be read, and that breaks a state: it is passed over there.
 */
export interface UnfoldedFact {
  seq: number;
  type: string;
}
/**
 * The reply to `ask.sql`. What JSON has no numbers for is text: times, big numbers, decimals, NaN and infinity.
 */
export interface Rows {
  columns?: string[];
  rows?: {
    [k: string]: unknown;
  }[][];
  /**
   * Whether there are more rows than these.
   */
  truncated?: boolean;
  error?: string;
  /**
   * The cursor by which the next page of them can be asked for, for a minute. Empty: there is no further page.
   */
  cursor?: string;
  /**
   * The position of the log that the copy of the views shows.
   */
  as_of?: number;
  /**
   * The seconds since the views were so.
   */
  age?: number;
}
/**
 * The reply to `ask.views_copy`: the newest copy, which is made anew at most every few seconds.
 */
export interface ViewsCopy {
  /**
   * The position of the log that the copy shows.
   */
  as_of?: number;
  /**
   * The time at which the views were last so.
   */
  at?: string | null;
  error?: string;
}
/**
 * The reply to `ask.runs`.
 */
export interface HistoryRuns {
  runs?: HistoryRun[];
  error?: string;
}
/**
 * A run that compresses a session's history and is not done, or that was the session's last and failed.
 */
export interface HistoryRun {
  project: string;
  session: string;
  reason: string;
  status: string;
  first: number;
  last: number;
  /**
   * The last message that is done.
   */
  through: number;
  tokens_left: number;
  code?: string | null;
  retry_at?: string | null;
}
/**
 * The reply to `ask.dreams`.
 */
export interface DreamReport {
  runs?: DreamRunReport[];
  /**
   * Orders that no run answers yet.
   */
  waiting?: number;
  error?: string;
}
/**
 * A run of the dreamer.
 */
export interface DreamRunReport {
  project: string;
  run: string;
  reason: string;
  /**
   * requested, started, done or cut_short.
   */
  status: string;
  code: string;
  /**
   * The position of the newest order that it answers; 0: none.
   */
  answers: number;
  requested_at: string;
  ended_at?: string | null;
  /**
   * The tasks that have ended.
   */
  tasks?: DreamTaskReport[];
  /**
   * The tasks that have not ended.
   */
  left?: string[];
}
/**
 * A task of a run, and what came of it: see the event `task.finished`.
 */
export interface DreamTaskReport {
  task: string;
  outcome: string;
  code: string;
  detail: string;
  backlog: number;
  backlog_after: number;
  applied: number;
  held: number;
  refused: number;
  tokens: number;
  usd: number;
  seconds: number;
  dropped?: number;
}
/**
 * The reply to `ask.adapter`; empty where none has connected yet.
 */
export interface LastAdapter {
  /**
   * When, in UTC and to the minute: `2026-03-07 12:00`.
   */
  happened?: string;
  version?: string;
  harness_version?: string;
  /**
   * Of the adapter's bundle.
   */
  digest?: string;
  /**
   * The other plugin that edits the harness's prompts; empty: there is none.
   */
  rival?: string;
  error?: string;
}
/**
 * The reply to `ask.project_at`; empty where no harness has worked there.
 */
export interface ProjectAt {
  project?: string;
  error?: string;
}
/**
 * The reply to `ask.aliases`: all changes in the order of the log, from which each reader computes what holds.
 */
export interface ProjectAliases {
  changes?: AliasChange[];
  error?: string;
}
/**
 * A change of one name of a project.
 */
export interface AliasChange {
  /**
   * The fact's position in the log.
   */
  seq: number;
  change: "added" | "proposed" | "removed";
  alias: string;
  leads_to: string;
  /**
   * The way in which a name that was added came to lead there.
   */
  how?: string;
  /**
   * The directory that a name that was proposed comes from.
   */
  directory?: string;
  /**
   * The reason why a person has to decide about a name that was proposed.
   */
  reason?: string;
}
/**
 * The reply to `ask.projects`.
 */
export interface ProjectList {
  projects?: ProjectSummary[];
  error?: string;
}
/**
 * A summary of what was reported under one name of a project.
 */
export interface ProjectSummary {
  project: string;
  sessions?: number;
  /**
   * When something happened in it last, in UTC; empty: never.
   */
  last_seen?: string;
  directories?: string[];
}
/**
 * The reply to `ask.settings`.
 */
export interface ProjectSettingsReply {
  /**
   * The position of the fact that says so; 0: the project never set anything.
   */
  seq?: number;
  /**
   * A JSON object: the project's own settings by their names.
   */
  settings?: string;
  /**
   * A JSON object: all that a project may set, with what the installation says of it.
   */
  installation?: string;
  /**
   * Paths from the project's root whose content is wanted, as in the manifest: of this project.
   */
  documents?: string[];
  document_bytes?: number;
  error?: string;
}
/**
 * The reply to `ask.keyfiles`.
 */
export interface KeyFileList {
  /**
   * Those that wait first, then those that are accepted, in their order, then those that were dismissed.
   */
  files?: KeyFileReport[];
  error?: string;
}
/**
 * One file that was proposed.
 */
export interface KeyFileReport {
  path: string;
  status: "accepted" | "dismissed" | "pending";
  /**
   * The number of times that agents had read it when it was proposed.
   */
  reads?: number;
  /**
   * The number of times that agents had changed it when it was proposed.
   */
  edits?: number;
  /**
   * Bytes, at that time.
   */
  size?: number;
}
/**
 * The reply to `ask.docs`.
 */
export interface DocProposalList {
  /**
   * Those that wait first.
   */
  proposals?: DocProposalReport[];
  error?: string;
}
/**
 * The newest proposal for a document.
 */
export interface DocProposalReport {
  path: string;
  /**
   * The name of the proposal in a decision.
   */
  name: string;
  status: "applied" | "dismissed" | "pending";
  /**
   * sha256 of the document that it was made from, in hex.
   */
  digest: string;
  /**
   * The texts that are replaced.
   */
  old?: string[];
  /**
   * The new text in place of each of `old`.
   */
  new?: string[];
  reason?: string;
}
/**
 * The reply to `ask.profile`.
 */
export interface ProfileReply {
  state?: "off" | "on" | "unavailable";
  /**
   * The reason why there is no profile, where it is unavailable, as the end of a sentence.
   */
  reason?: string;
  /**
   * In the order of their promotion.
   */
  traits?: ListedTrait[];
  /**
   * Traits that have too few candidates yet.
   */
  waiting?: number;
  error?: string;
}
/**
 * A trait that has enough candidates.
 */
export interface ListedTrait {
  id: string;
  text: string;
  /**
   * `shown`: it is in the head of sessions. `no_room`: others were stated in more sessions. `off`: the profile is.
   */
  state: "no_room" | "off" | "retired" | "shown";
  /**
   * The number of times that it was observed, as far as that is remembered.
   */
  candidates?: number;
  /**
   * The number of sessions in which it was observed.
   */
  sessions?: number;
}
/**
 * The reply to `ask.embed`.
 */
export interface Embedded {
  /**
   * Names the model: only vectors of one model can be compared. Empty: there is none.
   */
  model?: string;
  /**
   * Of a text's vector; 0: not known before it was asked once.
   */
  dimensions?: number;
  /**
   * Whether it gives the vectors of tokens.
   */
  has_tokens?: boolean;
  /**
   * In the order in which they were asked for.
   */
  texts?: EmbeddedText[];
  /**
   * The reason why there are no vectors; empty: there are. Search goes by words alone meanwhile.
   */
  error?: string;
}
/**
 * One text as vectors.
 */
export interface EmbeddedText {
  /**
   * 32-bit floats, little-endian; its length is 1.
   */
  vector?: string;
  /**
   * A vector for each token, one after another, each of 64 signed bytes; none from a model that gives none.
   */
  tokens?: string;
  /**
   * Of a query: the tokens as they are written; what goes on with a word begins with `##`.
   */
  pieces?: string[];
}
/**
 * The reply to `ask.probe`.
 */
export interface Probed {
  /**
   * ok, off, no_model, auth_failed, endpoint_unsupported, http_error, network_error, timeout or invalid_scheme.
   */
  status: string;
  reason?: string;
  model?: string;
  dimensions?: number;
}
/**
 * The reply to `ask.explain`; the newest edits first.
 */
export interface Explanation {
  step?: string;
  at?: string | null;
  revision?: number;
  messages?: number;
  edits?: Explained[];
  edits_in_force?: number;
  /**
   * The plan's rebases up to this step.
   */
  history?: Fact[];
  error?: string;
  /**
   * Its whole id.
   */
  session?: string;
  title?: string;
  /**
   * The number of the call in its session, from 1 on.
   */
  call?: number;
  /**
   * The number of calls of the session by now.
   */
  calls?: number;
  /**
   * The number of edits in force that do nothing but show a tag.
   */
  tags?: number;
  /**
   * The number of older edits that were asked for and are not among `edits`.
   */
  left_out?: number;
  /**
   * The hints that were added behind messages of a person, the newest first, at most `max_edits`.
   */
  hints?: PromptHint[];
  /**
   * Answers to searches that are in the prompt, the newest first, at most `max_edits`.
   */
  searches?: PromptSearch[];
}
/**
 * One edit with the facts that led to it and the revision that made it.
 */
export interface Explained {
  edit:
    | CutBefore
    | SetHead
    | PrefixText
    | ReplaceText
    | AppendText
    | ReplaceOutput
    | OmitPart
    | OmitMessage
    | OmitArc
    | InsertPair
    | Restore
    | Withdraw;
  revision: number;
  facts?: Fact[];
  /**
   * The kinds of edits that decided it, as `services/plan/lanes` names them: `drops`, `search hint`.
   */
  lanes?: string[];
  /**
   * The causes for which covered messages changed, where a rebase made it; empty: it came with its messages, in an extension.
   */
  causes?: string[];
  /**
   * The place of the message that it changes; 0: it changes none, or that message has no place.
   */
  ordinal?: number;
  /**
   * The number of the part that it changes; 0: it has none.
   */
  tag?: number;
  /**
   * The part that it changes, in words: `the output of read`.
   */
  what?: string;
}
/**
 * A log event in one line.
 */
export interface Fact {
  seq: number;
  type: string;
  at: string;
  actor: string;
  text?: string;
}
/**
 * Something known that follows a person's message, since a search for its words has found it.
 */
export interface PromptHint {
  message: string;
  ordinal: number;
  /**
   * Position of the fact that decided it.
   */
  seq: number;
  source: string;
  id: string;
  /**
   * The score of how well it fits, from 0 to 1.
   */
  score: number;
  text?: string;
}
/**
 * The answer to a search by the agent that is in the prompt.
 */
export interface PromptSearch {
  part: string;
  ordinal: number;
  tag: number;
  /**
   * Position of the fact that recorded it.
   */
  seq: number;
  /**
   * The query of the search, in one line.
   */
  query?: string;
  /**
   * The beginning of the answer, in one line; empty: the log has it elsewhere, since it is long.
   */
  text?: string;
  /**
   * UTF-8 length of the whole answer.
   */
  bytes?: number;
}
/**
 * The reply to `ask.status`: positions in the log, and what is in memory.
 */
export interface Status {
  log_head: number;
  /**
   * Read into the session cache.
   */
  read_through: number;
  /**
   * Committed to the views.
   */
  committed_through: number;
  hot_sessions: number;
  file: string;
  /**
   * Whether a new file is being built next to the one that answers.
   */
  building?: boolean;
  counts?: {
    [k: string]: number;
  };
  /**
   * Those that were worked in last, the newest first.
   */
  sessions?: SessionStatus[];
  /**
   * Records of the log that cannot be read; every room passes them over.
   */
  skipped?: number;
  /**
   * The last of them, the newest first.
   */
  newest_skipped?: SkippedRecord[];
  /**
   * Facts that can be read and that a state of the responder could not take in since the responder began.
   */
  unfolded?: number;
  /**
   * The last of them, the newest first.
   */
  newest_unfolded?: UnfoldedFact[];
  error?: string;
  /**
   * When the log was another one than before, within the last week; the newest first.
   */
  breaks?: LogBreak[];
  /**
   * Model calls whose step was read, and that wait for their plan.
   */
  plans_waiting?: number;
  /**
   * Model calls without a plan since the responder began: nobody listened any more, a newer one of the session came, or too many waited.
   */
  plans_dropped?: number;
}
/**
 * The distance of a session in memory from its next rebase. Tokens are as its provider counts them.
 */
export interface SessionStatus {
  project: string;
  session: string;
  title?: string;
  /**
   * Tokens of the coming prompt as it is, tools and system prompt included.
   */
  prompt?: number;
  /**
   * Its share of what is usable of the model's window.
   */
  percent?: number;
  /**
   * Percent of that from which on room is made between two turns.
   */
  threshold?: number;
  /**
   * Percent of what a rebase costs that going on as it is has cost; at 100 a rebase is made.
   */
  spent?: number;
  /**
   * The reason why no rebase was made at the newest call.
   */
  reason?: string;
}
/**
 * A record of the log that no room can read: it counts for its position, and for nothing else.
 */
export interface SkippedRecord {
  seq: number;
  subject: string;
  reason: string;
}
/**
 * The log was found to be another one than before: a copy was put back, or it was lost.
 */
export interface LogBreak {
  /**
   * When that was noticed.
   */
  at: string;
  /**
   * The position up to which the log before was known.
   */
  known: number;
  /**
   * The position up to which both are known to be the same.
   */
  agreed: number;
  /**
   * The last position of the log when it was noticed.
   */
  head: number;
}
/**
 * The reply to `ask.guide`.
 */
export interface ClientManifest {
  /**
   * Names this manifest: another one has another.
   */
  digest?: string;
  tools?: Tool[];
  lines?: Line[];
  /**
   * The text for the system prompt, by the session's mode; without one: nothing.
   */
  system?: {
    [k: string]: string;
  };
  /**
   * A system prompt that holds one of these is of the harness's own helper agents: leave those calls alone.
   */
  skip?: string[];
  /**
   * A regular expression that finds the line with the date in a system prompt: the line is frozen.
   */
  date?: string;
  /**
   * Paths from the project's root whose content is wanted: documents and key files. No link is followed out of it.
   */
  documents?: string[];
  /**
   * The most of one of them. What is longer, or no text, is reported as gone.
   */
  document_bytes?: number;
  /**
   * A regular expression for a trimmed text that is nothing but what the service puts in place of others. Letters are compared regardless of case.
   */
  placeholders?: string;
  /**
   * The answer to an agent whose call has such a text for an argument, by the session's mode; the call is not made. `{argument}` and `{text}` are filled in.
   */
  refusals?: {
    [k: string]: string;
  };
  /**
   * Whether `ask.erasures` is answered: until it was, an adapter sends nothing that it had before it connected.
   */
  erasures?: boolean;
  error?: string;
}
/**
 * A tool that a model is offered.
 */
export interface Tool {
  name: string;
  description: string;
  /**
   * JSON Schema of an object: the fields of the command or of the question.
   */
  parameters: {
    /**
     * Any JSON.
     */
    [k: string]: {
      [k: string]: unknown;
    };
  };
  verb: "ask" | "command" | "wish";
  /**
   * The type of a command (`drop.queue`), or the name of a question.
   */
  subject: string;
  /**
   * The modes of a session in which it is offered.
   */
  modes?: ("additive" | "hidden" | "primary" | "reduce_off" | "subagent")[];
  /**
   * Whether its arguments may be tags and placeholders, which name the texts that they replace.
   */
  takes_placeholders?: boolean;
  /**
   * The values of the argument `action`, and where each goes; empty: all calls go to `subject`.
   */
  actions?: {
    [k: string]: Target;
  };
}
/**
 * The command or question to which one action of a tool is sent.
 */
export interface Target {
  verb: "ask" | "command" | "wish";
  subject: string;
  /**
   * The modes of a session in which it may be taken. A session that an agent has started is a `subagent` in any.
   */
  modes: ("additive" | "hidden" | "primary" | "reduce_off" | "subagent")[];
}
/**
 * A slash command that a person types.
 */
export interface Line {
  name: string;
  description: string;
  verb: "ask" | "command" | "wish";
  subject: string;
  /**
   * The field that takes what is typed behind the command; empty: nothing is.
   */
  argument?: string;
  /**
   * Whether what is typed goes on to the model as a message, with the reply to the question behind it.
   */
  augments?: boolean;
}
/**
 * The reply to `ask.session`: a short report, in lines that need no markup to be read.
 */
export interface SessionReport {
  text?: string;
  error?: string;
}
/**
 * The reply to `ask.expand`: what it is about, and the words.
 */
export interface Expanded {
  text?: string;
  /**
   * Of the session.
   */
  title?: string;
  /**
   * The first message of the range that is left out for its length; 0: none is.
   */
  next?: number;
  /**
   * The page behind this one; 0: this is the last one, or a range that is not paged.
   */
  next_page?: number;
  error?: string;
}
/**
 * The reply to `ask.brief`: one text to add to the prompt that makes the summary.
 */
export interface CompactionContext {
  text?: string;
  error?: string;
}
/**
 * The reply to `ask.memory`: a text for the one who asks, and what it was made from as values.
 */
export interface MemoryReply {
  text?: string;
  error?: string;
  project?: string;
  as_of?: number;
  memories?: MemoryEntry[];
  /**
   * Of `list` by status, of `quality` by verdict, of `missing` by reason.
   */
  counts?: {
    [k: string]: number;
  };
  /**
   * Of `missing`: how many active memories are not shown. Of `quality`: how many candidates there were; and of `twins`.
   */
  total?: number;
  /**
   * Of `missing`: the first of those that new sessions do not get.
   */
  hidden?: HiddenMemory[];
  /**
   * Of `quality`: why candidates were rejected, the most frequent reason first.
   */
  reasons?: {
    [k: string]: number;
  };
  /**
   * Of `quality`: by source.
   */
  junk?: JunkRate[];
  /**
   * Of `review`: memory -> the words of the message that it came from.
   */
  quotes?: {
    [k: string]: string;
  };
  /**
   * Of `policy`: trust -> what is done with candidates of it: `applied`, `held` or `refused`.
   */
  policy?: {
    [k: string]: string;
  };
  /**
   * Of `notes`: those of all sessions, the newest first.
   */
  notes?: NoteEntry[];
  /**
   * Of `twins`: the memories that say nearly the same as a stronger one, each with that one.
   */
  twins?: never[][];
  /**
   * Of `list` and `review`: there are further pages.
   */
  more?: boolean;
  /**
   * Of `why` and `history`: the memory that is asked about; `rendered` is whether the head shows it, and `reason` why.
   */
  id?: string;
  rendered?: boolean;
  reason?: string;
  revision?: number;
  /**
   * Of `why` and `history`: the facts that led to that memory.
   */
  facts?: Fact[];
}
/**
 * A memory in its present state.
 */
export interface MemoryEntry {
  id: string;
  category: string;
  /**
   * `feedback`, `decision`, `project` or `reference`.
   */
  class: string;
  text?: string;
  status?: string;
  /**
   * Whether a head that is made now would show it.
   */
  rendered?: boolean;
  /**
   * The reason why such a head would not show it; empty: it would.
   */
  omitted?: string;
  strength?: number;
  pinned?: boolean;
  trust?: string;
  verification?: string;
  expires_at?: string;
  seen?: number;
  sources?: MemorySource[];
  importance?: string;
  /**
   * Of a proposal: the change that it would make of other memories (`merge`, `revise`, `archive`, `importance`).
   */
  change?: string;
  /**
   * Of a proposal: the memories that it would change.
   */
  targets?: string[];
  /**
   * Of a proposal: the reason for the change.
   */
  reason?: string;
  /**
   * The texts of the memories that a proposed split would make.
   */
  parts?: string[];
}
/**
 * A place where a memory was seen.
 */
export interface MemorySource {
  actor: string;
  session: string;
  message: string;
  seq: number;
  /**
   * The run that found it there, or the import with tool and file (`import:mem0:/home/ada/memories.json`).
   */
  run?: string;
}
/**
 * An active memory that is not in the head of new sessions.
 */
export interface HiddenMemory {
  id: string;
  /**
   * The reason: `token_budget`, `global_cap`, `empty_budget` where others leave no room for it, or `twin`, `expired`.
   */
  reason: string;
  /**
   * The position of the fact since which it is not.
   */
  since: number;
  pinned?: boolean;
  /**
   * Of a twin: the memory that is the same sentence, and represents both.
   */
  stands?: string;
  text?: string;
}
/**
 * The share of junk in what came from one source.
 */
export interface JunkRate {
  /**
   * The author of the words: one of `TRUSTS`, such as `person`, `agent` or `historian`.
   */
  source: string;
  /**
   * The memories that were rejected, archived or quarantined.
   */
  junk: number;
  /**
   * All memories that were decided on or are active.
   */
  total: number;
  /**
   * The junk, by labels, among what this release remembers of recorded sessions.
   */
  sample_junk?: number;
  /**
   * All that this release remembers of recorded sessions; 0: none of it came from this source.
   */
  sample_total?: number;
}
/**
 * A note as it is now.
 */
export interface NoteEntry {
  id: string;
  text: string;
  /**
   * The session that it is of; empty: it is of the whole project.
   */
  session?: string;
  /**
   * `active`, `ready` (what it waited for has come), `parked` (that cannot be looked at) or `dismissed`.
   */
  status?: string;
  condition?: string;
  changed?: string | null;
  /**
   * Of a note that is ready or parked: what a look has found, or why nothing can be looked at. Of one whose words were not translated: why.
   */
  reason?: string;
  /**
   * The condition that its words were translated into, in words; empty: they were not, or it needed none.
   */
  translation?: string;
}
/**
 * The reply to `ask.question`. Each open question is offered to all who ask; `question.take` says who has it.
 */
export interface OfferedQuestion {
  /**
   * Its id; empty: there is none, ask again.
   */
  question?: string;
  /**
   * `provider/model`, or `small`: whichever small model the harness has.
   */
  model?: string;
  system?: string;
  prompt?: string;
  /**
   * The most tokens of the answer.
   */
  output?: number;
  /**
   * The session that it is asked for.
   */
  session?: string;
  /**
   * The room that asks.
   */
  purpose?: string;
  /**
   * After this nobody takes it any more.
   */
  until?: string | null;
  error?: string;
}
/**
 * The reply to `ask.erasures`: orders in the order of the log.
 */
export interface ErasureOrders {
  orders?: ErasureOrder[];
  /**
   * There may be further ones behind this position: ask again from there. 0: these are all.
   */
  more?: number;
  error?: string;
}
/**
 * One `erasure.ordered`, field by field.
 */
export interface ErasureOrder {
  order: string;
  ordered_at: string;
  salt: string;
  cost: number;
  lengths?: number[];
  anchors?: number[];
  checks?: number[];
  digests?: string[];
  encoded?: boolean[];
  sessions?: string[];
  projects?: string[];
}
/**
 * The reply to `ask.spending`: the day and the month of the project, and those of the installation.
 */
export interface SpentBudgets {
  budgets?: SpentBudget[];
  error?: string;
}
/**
 * A budget of a day or a month, and what is spent of it. A call that was not settled counts as it was reserved.
 */
export interface SpentBudget {
  owner: "installation" | "project";
  /**
   * In UTC: a day such as `2026-11-21`, or a month such as `2026-11`.
   */
  period: string;
  tokens?: number;
  usd?: number;
  /**
   * The most tokens that may be spent; None: tokens have no limit.
   */
  most_tokens?: number | null;
  /**
   * The most USD that may be spent; None: costs have no limit.
   */
  most_usd?: number | null;
}
/**
 * The agent no longer needs these tags (the tool `ctx_reduce`).
 */
export interface DropQueue {
  /**
   * `3-5,8,12-15`: numbers and ranges, separated by commas.
   */
  drop?: string;
}
/**
 * A person asks for everything that waits to be applied at the next model call.
 */
export interface FlushRequest {
  reason?: string;
}
/**
 * Compress all of a session's history that can be compressed, now.
 */
export interface HistoryOrder {}
/**
 * Make compressed history anew, or give that up.
 */
export interface HistoryRebuild {
  /**
   * `12-80`, in ordinals of messages; empty: everything; `stop`: what was begun is given up.
   */
  range?: string;
}
/**
 * Have a model judge anew how long each part of a session's history is worth keeping; what it says stays.
 */
export interface HistoryRescore {}
/**
 * Have the dreamer work on what is remembered of a project, now.
 */
export interface DreamOrder {
  /**
   * The one task that is to be run; empty: all of them.
   */
  task?: string;
  /**
   * The working tree of the project in which a person orders it; empty: none. Of other senders it is ignored.
   */
  directory?: string;
}
/**
 * Remember this of the project, from the session that the subject or `session` names.
 */
export interface MemoryWrite {
  text: string;
  /**
   * One of `fact.CATEGORIES`; empty: the words decide.
   */
  category?: string;
  importance?: string;
  session?: string;
  message?: string;
}
/**
 * Something may be worth remembering of the project.
 */
export interface MemoryPropose {
  category: string;
  text: string;
  session?: string;
  evidence?: number[];
  /**
   * The run that found it, or the import with tool and file.
   */
  run?: string;
}
/**
 * A person takes up what was proposed, or refuses it.
 */
export interface MemoryDecide {
  id: string;
  approve: boolean;
  reason?: string;
}
/**
 * Change the words of a memory, its category or how it weighs. What is empty stays.
 */
export interface MemoryRevise {
  id: string;
  text?: string;
  category?: string;
  /**
   * The revision that was seen: if there is a newer one, nothing is changed; 0: whatever it is.
   */
  revision?: number;
  session?: string;
  /**
   * Whether a person is to decide on it, whatever the policy applies. A person's own command is applied at once.
   */
  review?: boolean;
  /**
   * The reason, for the person who decides on it.
   */
  reason?: string;
  /**
   * Of a note: what it waits for from now on.
   */
  condition?:
    | string
    | {
        /**
         * Any JSON.
         */
        [k: string]: {
          [k: string]: unknown;
        };
      };
}
/**
 * Say how much a memory weighs: `low`, `normal` or `high`.
 */
export interface MemoryImportance {
  id: string;
  importance: string;
  /**
   * The reason, for the person who decides on it.
   */
  reason?: string;
  /**
   * As that of `memory.revise`.
   */
  revision?: number;
}
/**
 * Make one memory of several. The first one goes on, with these words.
 */
export interface MemoryMerge {
  ids: string[];
  text: string;
  /**
   * It must be given where those that are merged differ in it.
   */
  category?: string;
  session?: string;
  /**
   * Whether a person is to decide on it, whatever the policy applies. A person's own command is applied at once.
   */
  review?: boolean;
  /**
   * The reason, for the person who decides on it.
   */
  reason?: string;
  /**
   * The revision that was seen of each, in the order of `ids`: if one has a newer one, nothing is changed.
   */
  revisions?: number[];
}
/**
 * Make several memories of one that states several facts. They take its place, with what it came from.
 */
export interface MemorySplit {
  id: string;
  /**
   * The text of each.
   */
  parts: string[];
  /**
   * Whether a person is to decide on it, whatever the policy applies. A person's own command is applied at once.
   */
  review?: boolean;
  /**
   * The reason, for the person who decides on it.
   */
  reason?: string;
  /**
   * As that of `memory.revise`.
   */
  revision?: number;
}
/**
 * Show a memory no longer.
 */
export interface MemoryArchive {
  id: string;
  reason?: string;
  session?: string;
  /**
   * As that of `memory.revise`.
   */
  revision?: number;
}
/**
 * Let an archived, expired or superseded memory hold again.
 */
export interface MemoryRestore {
  id: string;
  reason?: string;
}
/**
 * Let a memory stay as strong as it is, and stand first; or let it fade again.
 */
export interface MemoryPin {
  id: string;
  pinned?: boolean;
}
/**
 * Say whether a memory still holds: `verified`, `stale`, `flagged` or `unverified`.
 */
export interface MemoryVerify {
  id: string;
  verification?: string;
  reason?: string;
  session?: string;
  /**
   * As that of `memory.revise`.
   */
  revision?: number;
}
/**
 * A memory was of use, or seen to hold, again.
 */
export interface MemoryReinforce {
  id: string;
  session?: string;
}
/**
 * Write down what time has done to the book until `at`: what has expired, and when the project rested.
 */
export interface MemoryExpire {
  at: string;
}
/**
 * Take back all that came of one session, message, run or actor; or undo that.
 */
export interface MemoryQuarantine {
  kind: string;
  value: string;
  undo?: boolean;
  reason?: string;
}
/**
 * Write down what is to be come back to.
 */
export interface NoteWrite {
  text: string;
  /**
   * The condition that it waits for: one of `schemas.conditions`, also as JSON in a text. Other words are stored with the note, and nothing looks whether they have come true unless a model of the dreamer translates them.
   */
  condition?:
    | string
    | {
        /**
         * Any JSON.
         */
        [k: string]: {
          [k: string]: unknown;
        };
      };
  session?: string;
  message?: string;
}
/**
 * Change a note's words, or its condition. What is empty stays.
 */
export interface NoteUpdate {
  id: string;
  text?: string;
  /**
   * As that of `note.write`. The same one again has it looked at anew where that had been given up.
   */
  condition?:
    | string
    | {
        /**
         * Any JSON.
         */
        [k: string]: {
          [k: string]: unknown;
        };
      };
  session?: string;
}
/**
 * The words that a note waits for were translated by a model, or cannot be; or git has the branch they lack.
 */
export interface NoteTranslate {
  id: string;
  /**
   * The position of the fact that gave the note these words.
   */
  since: number;
  /**
   * The condition, as JSON; empty: none was found.
   */
  condition?: string;
  /**
   * The reason why none was found.
   */
  reason?: string;
  /**
   * The name of the time zone by whose days a date was found.
   */
  zone?: string;
}
/**
 * The condition that a note waited for is met.
 */
export interface NoteReady {
  id: string;
  /**
   * The position of the fact that gave the note this condition: of another one nothing was seen.
   */
  since: number;
  reason?: string;
}
/**
 * The condition that a note waits for cannot be checked.
 */
export interface NotePark {
  id: string;
  since: number;
  code: string;
  reason?: string;
}
/**
 * A note is done with.
 */
export interface NoteDismiss {
  id: string;
  session?: string;
}
/**
 * A person sets what is done with candidates of one trust: `applied`, `held` or `refused`.
 */
export interface PolicySet {
  trust: string;
  action: string;
}
/**
 * A person says that another name is this project, too: its sessions and its memory are this project's.
 */
export interface ProjectMerge {
  former: string;
}
/**
 * A person gives a project a name to call it by.
 */
export interface ProjectRename {
  name: string;
}
/**
 * Take back that a name is this project: a merge, or a name that was given.
 */
export interface ProjectSeparate {
  /**
   * Empty: the name that came last.
   */
  former?: string;
}
/**
 * A person has their profile collected and used from now on. It is about no project.
 */
export interface ProfileEnable {
  /**
   * The current directory of the person: the e-mail address that git has there decides whose profile it is.
   */
  directory: string;
}
/**
 * A person has their profile neither collected nor used from now on. It is about no project.
 */
export interface ProfileDisable {
  /**
   * The current directory of the person: the e-mail address that git has there decides whose profile it is.
   */
  directory: string;
}
/**
 * A person has one trait of their profile neither collected nor used from now on. It is about no project.
 */
export interface ProfileRetire {
  /**
   * The current directory of the person: the e-mail address that git has there decides whose profile it is.
   */
  directory: string;
  /**
   * Its id, or the beginning of it.
   */
  trait: string;
}
/**
 * A person has stated how they want to work, in their own words. Only while their profile is on it is collected.
 */
export interface ProfileObserve {
  /**
   * The sentence, as the person typed it.
   */
  text: string;
  session?: string;
  /**
   * The position of the log with the observation.
   */
  position?: number;
  /**
   * The place in the session of the first message in which it was stated.
   */
  first?: number;
  /**
   * The place in the session of the last message in which it was stated.
   */
  last?: number;
}
/**
 * A person says what a project sets for itself. What it had set before, and is not named, holds no longer.
 */
export interface SettingsApply {
  /**
   * A JSON object: the name of a setting, such as `plan.context`, and its value. Empty: the project sets nothing.
   */
  settings?: string;
}
/**
 * The dreamer proposes a file as a key file of a project.
 */
export interface KeyFilePropose {
  /**
   * From the project's root.
   */
  path: string;
  reads: number;
  edits: number;
  /**
   * Bytes.
   */
  size: number;
}
/**
 * A person accepts proposed files. They are at the head of prompts from the next rebase of each session on.
 */
export interface KeyFileAccept {
  paths: string[];
}
/**
 * A person dismisses proposed files. They are proposed again when they were used twice as often.
 */
export interface KeyFileDismiss {
  paths: string[];
}
/**
 * A person removes files that were accepted; from then on they are as if they had been dismissed.
 */
export interface KeyFileRemove {
  paths: string[];
}
/**
 * A room is about to ask a model. It is refused when the project's budget of the day does not hold that.
 */
export interface SpendReserve {
  reservation: string;
  purpose: string;
  tokens: number;
  usd?: number;
  session?: string;
}
/**
 * The final cost of a reserved call.
 */
export interface SpendSettle {
  reservation: string;
  tokens: number;
  usd?: number;
}
/**
 * A person has had a proposal written into the document of their working tree; nobody else writes it.
 */
export interface DocsApply {
  path: string;
  /**
   * Its name, as `ask.docs` has it.
   */
  proposal: string;
}
/**
 * A person dismisses a proposal. None of its changes is proposed again.
 */
export interface DocsDismiss {
  path: string;
  /**
   * Its name, as `ask.docs` has it.
   */
  proposal: string;
}
/**
 * The dreamer proposes a change of a document of the project. It takes the place of one that waits.
 */
export interface DocsPropose {
  /**
   * From the project's root.
   */
  path: string;
  /**
   * sha256 of the document that it was made from, in hex.
   */
  digest: string;
  /**
   * The texts that are replaced, each of whole lines that are in the document once.
   */
  old: string[];
  /**
   * The new text in place of each of `old`.
   */
  new: string[];
  /**
   * The reason for the changes, in lines.
   */
  reason?: string;
}
/**
 * The answer of the harness that took a question, or why it has none.
 */
export interface QuestionAnswer {
  question: string;
  taker: string;
  text?: string;
  /**
   * `busy`, `refused`, `aborted`, `empty`, `overflow`, `timeout`, or a sentence; empty: there is an answer.
   */
  failure?: string;
  /**
   * The one that answered, as `provider/model`.
   */
  model?: string;
  /**
   * As the harness counts them; 0: it does not know. So are the others.
   */
  tokens_in?: number;
  tokens_out?: number;
  cached?: number;
  usd?: number;
  session?: string;
}
/**
 * A room has a question for a model, which a harness of the project may answer. The same question twice is one.
 */
export interface QuestionRequest {
  /**
   * An id that the room makes of what it asks.
   */
  question: string;
  /**
   * The room.
   */
  purpose: string;
  /**
   * `provider/model`, or `small`: whichever small model the harness has.
   */
  model: string;
  system: string;
  prompt: string;
  /**
   * The most tokens of the answer.
   */
  output: number;
  /**
   * After this nobody takes it any more.
   */
  until: string;
  /**
   * The session that it is asked for.
   */
  session?: string;
}
/**
 * A harness is about to answer a question. The first one has it, for 180 s; meanwhile all others are refused.
 */
export interface QuestionTake {
  question: string;
  /**
   * One id for each process of a harness.
   */
  taker: string;
  session?: string;
}
/**
 * A room no longer waits for an answer, or could not use the one that came.
 */
export interface QuestionWithdraw {
  question: string;
  reason?: string;
}
/**
 * One message on `do.*`: the command as JSON, who wants it and when. `id` makes a repeated command one command.
 */
export interface CommandMessage {
  id: string;
  at: string;
  actor: Actor;
  data: unknown;
  v?: number;
  /**
   * The project of the subject, where it is given: a command that names another project is refused. So is the session.
   */
  project?: string;
  session?: string;
}
/**
 * The desk's reply. `text` is meant for the one who asked, agent or person.
 */
export interface Answer {
  ok: boolean;
  text: string;
  /**
   * The log position of what was written; 0 if nothing was.
   */
  seq?: number;
  /**
   * Nothing was decided, since the log could not be reached: the same command may be sent again under its id.
   */
  again?: boolean;
}
