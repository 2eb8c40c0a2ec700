import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type {
  McpCallRequest,
  McpCallResponse,
  McpProgressResponse,
  McpServersRequest,
  McpTestRequest,
  McpTestResponse,
  McpToolsResponse,
} from '@slipway/contracts/agent';
import { SlipwayError } from '@slipway/errors';
import { CellOutput } from '../ipython/cell-output.js';
import { killMarked } from '../process/kill.js';
import { CallProgress } from './call-progress.js';
import type { Connection } from './connection.js';
import { failureWords, kindOfFailure } from './failure-words.js';
import { LongQuestions } from './long-question.js';
import { McpServer, type McpServerDeps } from './mcp-server.js';
import { MARK, markOf, type ServerSpec, specOf } from './server-spec.js';
import { cleanTools, nameTools } from './tool-list.js';
import { observationOf } from './tool-result.js';

/** Conversations with servers at once. */
const MAX_SETS = 50;
const MAX_DROPPED = 20;
/**
 * Servers without requests for so long are abandoned: their conversation ended unnoticed. Milliseconds; several
 * questions long.
 */
const ABANDONED_MS = 120_000;
/** There while servers of this sandbox may run. */
const RAN = 'mcp-servers-ran';

interface McpSet {
  readonly servers: readonly McpServer[];
  revision: number;
  readonly questions: LongQuestions;
  /** Calls that are under way. */
  calls: number;
  /** Of calls that are under way, by the id that the caller gave. */
  readonly progress: Map<string, CallProgress>;
  /** When it was last asked after. */
  lastAskedAt: number;
}

/**
 * The tool servers of every conversation in this sandbox, each conversation's by itself. Nothing is loaded before there
 * is one.
 */
export class McpSets {
  readonly #sets = new Map<string, McpSet>();
  /** No revision is ever another set's too: who asks with one of before is answered at once. */
  #revisions = 0;

  readonly #deps: Omit<McpServerDeps, 'changed' | 'directory'>;
  readonly #ran: string;
  #sweep: NodeJS.Timeout | undefined;

  /** What an earlier process of this sandbox could not end, because it was killed, ends now. */
  constructor(
    deps: Omit<McpServerDeps, 'changed' | 'directory' | 'mark'> & { readonly stateDirectory: string },
    private readonly abandonedMs = ABANDONED_MS,
  ) {
    const { stateDirectory, ...rest } = deps;
    this.#deps = { ...rest, mark: markOf(stateDirectory) };
    this.#ran = path.join(stateDirectory, RAN);
    if (existsSync(this.#ran)) this.#killAll();
  }

  /** Answers before any server is reached. Those of before end. @throws SlipwayError `request.invalid` */
  use(name: string, { servers, cwd }: McpServersRequest): void {
    this.end(name);
    const wanted = Object.entries(servers).filter(([, { enabled }]) => enabled);
    if (wanted.length === 0) return;
    if (this.#sets.size >= MAX_SETS)
      throw new SlipwayError('request.invalid', `${MAX_SETS} conversations in this sandbox have MCP servers already.`);
    const changed = (): void => {
      this.#revisions += 1;
      set.revision = this.#revisions;
      set.questions.wake();
    };
    const deps = { ...this.#deps, directory: cwd, changed };
    this.#revisions += 1;
    const set: McpSet = {
      servers: wanted.map(([server, config]) => new McpServer(server, config, deps)),
      revision: this.#revisions,
      questions: new LongQuestions(),
      calls: 0,
      progress: new Map(),
      lastAskedAt: performance.now(),
    };
    this.#sets.set(name, set);
    this.#note();
    for (const server of set.servers) server.start();
  }

  /**
   * When there is something new since `after`, or after a while. @throws SlipwayError `resource.not-found` for a
   * conversation without servers: this process may be a new one.
   */
  async tools(name: string, after: number, signal: AbortSignal): Promise<McpToolsResponse> {
    const set = this.#set(name);
    set.lastAskedAt = performance.now();
    if (set.revision === after)
      await set.questions.news(signal).finally(() => {
        set.lastAskedAt = performance.now();
      });
    const { tools, left } = nameTools(set.servers);
    return {
      revision: set.revision,
      tools,
      servers: set.servers.map((server) => ({
        name: server.name,
        state: server.state,
        tools: tools.filter((tool) => tool.server === server.name).length,
        dropped: [...server.dropped, ...(left.get(server.name) ?? [])].slice(0, MAX_DROPPED),
        ...(server.reason === undefined ? {} : { reason: server.reason }),
        ...(server.nextStep === undefined ? {} : { nextStep: server.nextStep }),
      })),
    };
  }

  /** @throws SlipwayError `resource.not-found`, or the signal's reason. */
  async call(name: string, request: McpCallRequest, signal: AbortSignal): Promise<McpCallResponse> {
    const set = this.#set(name);
    const server = set.servers.find((each) => each.name === request.server);
    if (server === undefined)
      throw new SlipwayError('resource.not-found', `This conversation has no MCP server ${request.server}.`);
    set.calls += 1;
    const progress = new CallProgress();
    if (request.call !== undefined) set.progress.set(request.call, progress);
    try {
      return { observation: await server.call(request, signal, (each) => progress.note(each)) };
    } finally {
      progress.end();
      if (request.call !== undefined) set.progress.delete(request.call);
      set.calls -= 1;
      set.lastAskedAt = performance.now();
    }
  }

  /** A server's progress of a call under way. @throws SlipwayError `resource.not-found`, or the signal's reason. */
  progress(name: string, call: string, after: number, signal: AbortSignal): Promise<McpProgressResponse> {
    const progress = this.#set(name).progress.get(call);
    if (progress === undefined) throw new SlipwayError('resource.not-found', 'There is no such call under way.');
    return progress.since(after, signal);
  }

  /** Reaches a server once, to test its settings. Never rejects for what the server does. */
  async test(
    { server, timeout, tool_call: call }: McpTestRequest,
    directory: string,
    signal: AbortSignal,
  ): Promise<McpTestResponse> {
    const { environment, outputDirectory, mark } = this.#deps;
    this.#note();
    const { type, transport, ...config } = server;
    const limit = AbortSignal.timeout(timeout * 1000);
    const both = AbortSignal.any([signal, limit]);
    let spec: ServerSpec | null = null;
    let connection: Connection | undefined;
    try {
      spec = specOf(
        { ...config, transport: type ?? transport },
        { variables: environment.given(), base: environment.unattended(), directory, mark },
      );
      const { connect } = await import('./connection.js');
      connection = await connect(spec, { broken: () => {}, toolsChanged: () => {} }, both);
      const { tools } = cleanTools((await orEnded(connection.listTools(), both)).tools);
      const names = tools.map(({ tool }) => tool);
      if (call == null) return { ok: true, tools: names, tool_result: null };
      const answer = await connection.call(call.name, call.arguments, both);
      const { is_error, content } = observationOf(call.name, answer, new CellOutput(outputDirectory, 'mcp-test'));
      return {
        ok: true,
        tools: names,
        tool_result: { is_error, text: content.map((part) => (part.type === 'text' ? part.text : '')).join('') },
      };
    } catch (error) {
      signal.throwIfAborted();
      if (limit.aborted) return { ok: false, error: `It did not answer within ${timeout} s.`, error_kind: 'timeout' };
      const { reason, nextStep } = failureWords(error, spec);
      return { ok: false, error: `${reason} ${nextStep}`, error_kind: kindOfFailure(error) };
    } finally {
      connection?.close();
    }
  }

  /** What servers name in their settings may be there now. */
  environmentChanged(): void {
    for (const { servers } of this.#sets.values()) for (const server of servers) server.reconsider();
  }

  end(name: string): void {
    const set = this.#sets.get(name);
    this.#sets.delete(name);
    for (const server of set?.servers ?? []) server.close();
    set?.questions.wake();
  }

  /** At the end of this process: what a server started ends at once. */
  close(): void {
    clearInterval(this.#sweep);
    for (const name of [...this.#sets.keys()]) this.end(name);
    if (existsSync(this.#ran)) this.#killAll();
  }

  #killAll(): void {
    killMarked(`${MARK}=${this.#deps.mark}`);
  }

  /** Before the first server: the next process cleans up what is left of them. A full disk does not stop a server. */
  #note(): void {
    if (this.#sweep !== undefined) return;
    this.#sweep = setInterval(() => this.#endAbandoned(), this.abandonedMs / 8).unref();
    try {
      writeFileSync(this.#ran, '');
    } catch {}
  }

  #endAbandoned(): void {
    const now = performance.now();
    for (const [name, { questions, calls, lastAskedAt }] of this.#sets)
      if (!questions.areOpen && calls === 0 && now - lastAskedAt > this.abandonedMs) this.end(name);
  }

  #set(name: string): McpSet {
    const set = this.#sets.get(name);
    if (set === undefined) throw new SlipwayError('resource.not-found', 'This conversation has no MCP servers here.');
    return set;
  }
}

function orEnded<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}
