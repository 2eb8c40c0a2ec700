import { randomUUID } from 'node:crypto';
import type { MCPToolObservation } from '@slipway/contracts/actions';
import type { McpServerConfig, McpServerState } from '@slipway/contracts/agent';
import { CellOutput } from '../ipython/cell-output.js';
import type { ShellEnvironment } from '../terminal/shell-environment.js';
import type { Connection } from './connection.js';
import { failureWords } from './failure-words.js';
import { NotReachable, type ServerSpec, specOf } from './server-spec.js';
import { type CleanTool, cleanTools, MAX_LISTED_TOOLS } from './tool-list.js';
import { failedCall, observationOf } from './tool-result.js';

/** From one try to the next. Milliseconds; the last holds on. */
const BACKOFF_MS = [1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 120_000, 300_000] as const;
/** A server that has held so long is tried again at once when it breaks. Milliseconds. */
const STEADY_MS = 60_000;
/**
 * A server may say that its tools changed as often as it likes: they are read so soon, later and later while it goes
 * on. Milliseconds.
 */
const LIST_AFTER_MS = 300;
const LIST_AFTER_AT_MOST_MS = 30_000;

export interface McpServerDeps {
  readonly environment: ShellEnvironment;
  readonly directory: string;
  readonly outputDirectory: string;
  /** As `markOf` has it. */
  readonly mark: string;
  readonly changed: () => void;
}

/** One server of a conversation: connected in the background, again and again, and asked for its tools. */
export class McpServer {
  state: McpServerState['state'] = 'connecting';
  reason: string | undefined;
  nextStep: string | undefined;
  tools: readonly CleanTool[] = [];
  dropped: readonly string[] = [];
  #connection: Connection | undefined;
  #closed = false;
  #failures = 0;
  #readyAt = 0;
  #trying = false;
  #again: NodeJS.Timeout | undefined;
  #listing: NodeJS.Timeout | undefined;
  #listAfter = LIST_AFTER_MS;
  #listedAt = 0;
  #spec: ServerSpec | null = null;
  readonly #end = new AbortController();

  constructor(
    readonly name: string,
    private readonly config: McpServerConfig,
    private readonly deps: McpServerDeps,
  ) {}

  /** Goes on in the background; never rejects. */
  start(): void {
    void this.#try();
  }

  /** Something that its settings name may be there now. */
  reconsider(): void {
    if (this.state === 'off' || this.state === 'failed') this.#retry(0);
  }

  /** What the tool answered, or why it did not: each for the model. @throws the signal's reason. */
  async call(
    { name, tool, arguments: args }: { name: string; tool: string; arguments: Record<string, unknown> },
    signal: AbortSignal,
    onProgress?: (progress: object) => void,
  ): Promise<MCPToolObservation> {
    const connection = this.#connection;
    if (connection === undefined) {
      this.reconsider();
      return failedCall(
        name,
        `The MCP server ${this.name} is not connected, and nothing was done. ${this.reason ?? 'It is being started.'} It is tried again by itself.`,
      );
    }
    try {
      const answer = await connection.call(tool, args, signal, onProgress);
      return observationOf(
        name,
        answer,
        new CellOutput(this.deps.outputDirectory, `${Date.now()}-${randomUUID().slice(0, 8)}`),
      );
    } catch (error) {
      signal.throwIfAborted();
      const { reason } = failureWords(error, this.#spec);
      const broke = this.#connection !== connection;
      return failedCall(
        name,
        broke
          ? `The MCP server ${this.name} went away during the call; what was asked may or may not have had its effect. ${reason} It is being connected again.`
          : `The MCP server ${this.name} did not do this. ${reason}`,
      );
    }
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#again);
    clearTimeout(this.#listing);
    this.#end.abort(new Error('the conversation is over'));
    this.#connection?.close();
    this.#connection = undefined;
  }

  async #connect(): Promise<void> {
    const { environment, directory, mark } = this.deps;
    try {
      this.#spec = specOf(this.config, {
        variables: environment.given(),
        base: environment.unattended(),
        directory,
        mark,
      });
      const { connect } = await import('./connection.js');
      const connection: Connection = await connect(
        this.#spec,
        { broken: (error) => this.#broke(error), toolsChanged: () => this.#listSoon() },
        this.#end.signal,
      );
      if (this.#closed) return connection.close();
      this.#connection = connection;
      await this.#list(connection);
      this.#readyAt = performance.now();
      this.#tell('ready');
    } catch (error) {
      if (this.#closed) return;
      const connection = this.#connection;
      this.#connection = undefined;
      connection?.close();
      this.#fail(error);
    }
  }

  /** @returns whether anything is another than it was. */
  async #list(connection: Connection): Promise<boolean> {
    const { tools: listed, more } = await connection.listTools();
    const { tools, dropped } = cleanTools(listed);
    const before = JSON.stringify([this.tools, this.dropped]);
    this.tools = tools;
    this.dropped = [...dropped, ...(more > 0 ? [`more than ${MAX_LISTED_TOOLS} tools: the others were ignored`] : [])];
    return JSON.stringify([this.tools, this.dropped]) !== before;
  }

  #listSoon(): void {
    if (this.#listing !== undefined || this.#closed) return;
    if (performance.now() - this.#listedAt > STEADY_MS) this.#listAfter = LIST_AFTER_MS;
    this.#listing = setTimeout(() => {
      const connection = this.#connection;
      this.#listAfter = Math.min(2 * this.#listAfter, LIST_AFTER_AT_MOST_MS);
      this.#listedAt = performance.now();
      // A list that cannot be read leaves the tools as they were.
      const news =
        connection === undefined || this.state !== 'ready'
          ? Promise.resolve(false)
          : this.#list(connection).catch(() => false);
      void news.then((changed) => {
        this.#listing = undefined;
        if (changed && this.#connection === connection) this.#tell('ready');
      });
    }, this.#listAfter);
    this.#listing.unref();
  }

  #broke(error: Error): void {
    if (this.#closed || this.#connection === undefined) return;
    this.#connection = undefined;
    if (performance.now() - this.#readyAt > STEADY_MS) this.#failures = 0;
    this.#fail(error);
  }

  #fail(error: unknown): void {
    const { reason, nextStep } = failureWords(error, this.#spec);
    this.tools = [];
    this.dropped = [];
    const off = error instanceof NotReachable;
    this.#tell(off ? 'off' : 'failed', reason, nextStep);
    if (!off) this.#retry(BACKOFF_MS[Math.min(this.#failures, BACKOFF_MS.length - 1)] ?? 0);
    this.#failures += 1;
  }

  #retry(ms: number): void {
    clearTimeout(this.#again);
    this.#again = setTimeout(() => {
      this.#again = undefined;
      if (!this.#closed && this.#connection === undefined && !this.#trying) void this.#try();
    }, ms);
    this.#again.unref();
  }

  async #try(): Promise<void> {
    this.#trying = true;
    await this.#connect();
    this.#trying = false;
  }

  #tell(state: McpServerState['state'], reason?: string, nextStep?: string): void {
    this.state = state;
    this.reason = reason;
    this.nextStep = nextStep;
    this.deps.changed();
  }
}
