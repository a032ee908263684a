/** OpenCode's own shapes, as far as this adapter reads them. Everything may be missing in another version. */

export interface Info {
  id: string;
  sessionID: string;
  role: "user" | "assistant";
  time?: { created?: number; completed?: number };
  agent?: string;
  mode?: string;
  model?: { providerID?: string; modelID?: string; variant?: string };
  providerID?: string;
  modelID?: string;
  variant?: string;
  tools?: Record<string, boolean>;
  /** What the person's message adds to the system prompt. */
  system?: string;
  tokens?: { input?: number; output?: number; reasoning?: number; cache?: { read?: number; write?: number } };
  cost?: number;
  error?: Failure;
  summary?: unknown;
}

export interface Failure {
  name?: string;
  data?: { message?: string; statusCode?: number; responseBody?: string };
}

/** The words of OpenCode for a failure. */
export const wordsOf = ({ name = "", data = {} }: Failure): string =>
  data.message || name || "OpenCode gave no answer, and no reason";

export interface ToolState {
  status?: string;
  input?: unknown;
  output?: string;
  error?: string;
  title?: string;
  metadata?: Record<string, unknown>;
  attachments?: unknown;
  time?: { start?: number; end?: number; compacted?: number };
}

export interface Part {
  id: string;
  messageID: string;
  sessionID: string;
  type: string;
  text?: string;
  synthetic?: boolean;
  ignored?: boolean;
  metadata?: Record<string, unknown>;
  time?: { start?: number; end?: number };
  tool?: string;
  callID?: string;
  state?: ToolState;
  mime?: string;
  filename?: string;
  url?: string;
  auto?: boolean;
}

export interface Entry {
  info: Info;
  parts: Part[];
}

export interface Session {
  id: string;
  title?: string;
  parentID?: string;
  directory?: string;
  version?: string;
  agent?: string;
  permission?: Rule[];
  time?: { created?: number; updated?: number };
}

/** Of the rules about a tool the last one holds. */
export interface Rule {
  permission: string;
  pattern: string;
  action: string;
}

export interface Agent {
  name: string;
  hidden?: boolean;
  prompt?: string;
  permission?: Rule[];
}

export interface BusEvent {
  id?: string;
  type: string;
  properties?: {
    sessionID?: string;
    info?: unknown;
    part?: Part;
    messageID?: string;
    partID?: string;
    error?: Failure;
    status?: { type?: string };
    todos?: { content?: string; status?: string; priority?: string }[];
  };
}

interface Reply<T> {
  data?: T | undefined;
  error?: Failure | undefined;
  response?: { status?: number };
}

export interface Model {
  limit?: { context?: number; output?: number };
  provider?: { npm?: string };
  api?: { npm?: string };
  interleaved?: unknown;
  capabilities?: { interleaved?: unknown };
}

/** The harness's own client, as a plugin gets it. */
export interface Client {
  session: {
    get(options: { path: { id: string } }): Promise<Reply<Session>>;
    list(): Promise<Reply<Session[]>>;
    messages(options: { path: { id: string } }): Promise<Reply<Entry[]>>;
    message(options: { path: { id: string; messageID: string } }): Promise<Reply<Entry>>;
    prompt(options: { path: { id: string }; body: Record<string, unknown> }): Promise<Reply<Entry>>;
    create(options: { body: Record<string, unknown> }): Promise<Reply<Session>>;
    delete(options: { path: { id: string } }): Promise<unknown>;
    abort(options: { path: { id: string } }): Promise<unknown>;
  };
  tool?: { ids(): Promise<Reply<string[]>> };
  config: {
    providers(): Promise<Reply<{ providers?: { id: string; npm?: string; models?: Record<string, Model> }[] }>>;
  };
  app?: { agents(): Promise<Reply<Agent[]>> };
  tui?: { showToast(options: { body: { message: string; variant: string } }): Promise<unknown> };
  _client?: {
    get(options: { url: string; query: object }): Promise<Reply<unknown>>;
    post(options: { url: string; body: unknown }): Promise<Reply<unknown>>;
  };
}

export interface PluginInput {
  client: Client;
  project?: { id?: string; worktree?: string; vcs?: string };
  directory: string;
  worktree?: string;
}
