import { setTimeout as wait } from 'node:timers/promises';
import { type AgentPorts, type ComingTools, mcpTool, STANDARD_TOOLS, type Tool } from '@slipway/agent';
import { type MCPToolObservation } from '@slipway/contracts/actions';
import {
  MAX_TOOL_NAME,
  type McpCallRequest,
  type McpConfig,
  McpProgressResponse,
  type McpServerState,
  type McpServersUpdate,
  McpToolsResponse,
  type StartConversationRequest,
} from '@slipway/contracts/agent';
import { SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import { toolFilter } from '../openhands/openhands-tools.js';
import type { SecretMask } from '../secrets/secret-mask.js';
import type { ActionServerClient } from './action-server-client.js';
import { credentialsIn } from './mcp-secrets.js';

/**
 * The first step of an agent waits so long for servers that are being started. Milliseconds: a start waits for none,
 * and a model that is asked without its tools does the work twice.
 */
const FIRST_TOOLS_MS = 2_000;
/** Longer than the tool process keeps a question open. Milliseconds. */
const ASK_MS = 40_000;
const AGAIN_MS = 1_000;
/**
 * Timeout of one attempt to tell action-server that its servers are not needed, and the number of attempts.
 * Milliseconds.
 */
const END_MS = 10_000;
const END_TRIES = 60;
/** How long a call waits for the servers of a restarted action-server. Milliseconds. */
const GIVEN_AGAIN_MS = 15_000;
const LOOK_MS = 100;
/** A call that is over sooner has no progress to show. Milliseconds. */
const PROGRESS_AFTER_MS = 250;
/** Changes of one start that are put into the log; after that the tools change silently. */
const MAX_UPDATES = 60;
const NONE: readonly Tool[] = [];

interface Watch {
  readonly config: McpConfig;
  readonly directory: string;
  readonly lets: (name: string) => boolean;
  readonly end: AbortController;
  settled: Promise<void>;
  /** All of them have been heard of, or have had their time for it. */
  heard: boolean;
  latest?: McpToolsResponse;
}

/**
 * The MCP servers of one conversation as its agent sees them: tools that come and go, and words about it. The tool
 * process runs the servers; nothing of a start waits for them.
 */
export class McpServers implements ComingTools {
  tools: readonly Tool[] = NONE;
  private watch: Watch | undefined;
  private states: readonly McpServerState[] = [];
  private updates = 0;
  private leaving: AbortController | undefined;

  /** @param note puts a change into the log. */
  constructor(
    private readonly set: string,
    private readonly deps: {
      readonly actionServer: ActionServerClient;
      readonly mask: SecretMask;
      readonly logger: Logger;
    },
    private readonly note: (update: McpServersUpdate) => Promise<void>,
  ) {}

  /** In place of those of before. @throws SlipwayError `request.invalid` */
  begin({ agent, workspace }: StartConversationRequest): void {
    this.end();
    // Those that come take the place of those that went.
    this.leaving?.abort();
    const config = agent.mcp_config ?? {};
    if (!Object.values(config).some(({ enabled }) => enabled)) return;
    this.deps.mask.add(credentialsIn(config));
    const end = new AbortController();
    const first = Promise.withResolvers<void>();
    this.updates = 0;
    const watch: Watch = {
      config,
      directory: workspace.working_dir,
      lets: toolFilter(agent),
      end,
      settled: Promise.resolve(),
      heard: false,
    };
    // Whoever waits for it sees in the log what became of them.
    watch.settled = Promise.race([first.promise, wait(FIRST_TOOLS_MS, undefined, { ref: false })]).then(async () => {
      watch.heard = true;
      if (this.watch === watch && watch.latest !== undefined) await this.take(watch, watch.latest);
    });
    this.watch = watch;
    this.follow(watch, first.resolve).catch((error: unknown) =>
      this.deps.logger.error({ err: error }, 'MCP server status no longer followed'),
    );
  }

  async settled(signal: AbortSignal): Promise<void> {
    if (this.watch === undefined) return;
    await Promise.race([
      this.watch.settled,
      new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true })),
    ]);
  }

  /**
   * The servers end with the conversation: the request is repeated until action-server acknowledges it. One that is
   * unreachable meanwhile ends them by itself, when it is back or after a while without requests for them.
   */
  end(): void {
    const { watch } = this;
    if (watch === undefined) return;
    this.watch = undefined;
    this.tools = NONE;
    this.states = [];
    watch.end.abort(new Error('the conversation does not follow its servers any more'));
    this.leaving = new AbortController();
    void this.leave(watch.directory, this.leaving.signal);
  }

  private async leave(cwd: string, taken: AbortSignal): Promise<void> {
    for (let tries = 0; tries < END_TRIES && !taken.aborted; tries += 1) {
      const limit = AbortSignal.any([taken, AbortSignal.timeout(END_MS)]);
      const status = await this.deps.actionServer
        .request('PUT', this.path('servers'), { servers: {}, cwd }, limit)
        .then(
          (answer) => answer.status,
          () => null,
        );
      if (status !== null && status < 500) return;
      await wait(AGAIN_MS, undefined, { signal: taken, ref: false }).catch(() => {});
    }
  }

  /** A tool process that is a new one is given the servers again first: nothing was done then. */
  private async call(
    call: McpCallRequest,
    context: { readonly signal: AbortSignal; readonly traceparent: string },
  ): Promise<MCPToolObservation> {
    try {
      return await this.deps.actionServer.callMcp(this.set, call, context);
    } catch (error) {
      if (!(error instanceof SlipwayError) || error.code !== 'resource.not-found') throw error;
      const state = (): string | undefined => this.states.find(({ name }) => name === call.server)?.state;
      const given = AbortSignal.any([context.signal, AbortSignal.timeout(GIVEN_AGAIN_MS)]);
      this.states = [];
      while (!given.aborted && (state() ?? 'connecting') === 'connecting')
        await wait(LOOK_MS, undefined, { signal: given }).catch(() => {});
      context.signal.throwIfAborted();
      return this.deps.actionServer.callMcp(this.set, call, context);
    }
  }

  /** Progress of a long call goes to viewers. */
  private async watched<T>(
    call: string,
    ports: Pick<AgentPorts, 'onDelta'>,
    signal: AbortSignal,
    work: () => Promise<T>,
  ): Promise<T> {
    const over = new AbortController();
    void this.followProgress(call, ports, AbortSignal.any([signal, over.signal])).catch(() => {});
    try {
      return await work();
    } finally {
      over.abort();
    }
  }

  /** Best effort: a failure of the receiver does not fail the call. */
  private async followProgress(call: string, ports: Pick<AgentPorts, 'onDelta'>, signal: AbortSignal): Promise<void> {
    await wait(PROGRESS_AFTER_MS, undefined, { signal });
    for (let after = 0; !signal.aborted; ) {
      const route = `${this.path('progress')}&call=${call}&after=${after}`;
      const { status, body } = await this.deps.actionServer.request(
        'GET',
        route,
        undefined,
        AbortSignal.any([signal, AbortSignal.timeout(ASK_MS)]),
      );
      const response = status < 300 ? McpProgressResponse.parse(body) : null;
      signal.throwIfAborted();
      if (response === null) return;
      if (response.text !== '')
        ports.onDelta({ responseId: call, channel: 'progress', offset: after, text: response.text });
      if (response.over) return;
      after += response.text.length;
    }
  }

  private path(what: string): string {
    return `/mcp/${what}?set=${encodeURIComponent(this.set)}`;
  }

  private async follow(watch: Watch, settled: () => void): Promise<void> {
    const { signal } = watch.end;
    let known = -1;
    for (let given = false; !signal.aborted; ) {
      try {
        const limit = AbortSignal.any([signal, AbortSignal.timeout(ASK_MS)]);
        if (!given) {
          const body = { servers: watch.config, cwd: watch.directory };
          const { status } = await this.deps.actionServer.request('PUT', this.path('servers'), body, limit);
          if (status >= 300) throw new Error(`status ${status}`);
        }
        given = true;
        const { status, body } = await this.deps.actionServer.request(
          'GET',
          `${this.path('tools')}&after=${known}`,
          undefined,
          limit,
        );
        // The tool process is a new one.
        if (status === 404) given = false;
        if (status >= 300) throw new Error(`status ${status}`);
        const response = McpToolsResponse.parse(body);
        if (signal.aborted) return;
        watch.latest = response;
        if (response.revision !== known) await this.take(watch, response);
        known = response.revision;
        if (response.servers.every(({ state }) => state !== 'connecting')) settled();
      } catch (error) {
        if (signal.aborted) return;
        this.deps.logger.warn({ err: error }, 'failed to read the status of MCP servers, will retry');
        await wait(AGAIN_MS, undefined, { signal }).catch(() => {});
      }
    }
  }

  /** Resolves when what is to be said of it is in the log. */
  private async take(watch: Watch, { servers, tools }: McpToolsResponse): Promise<void> {
    const taken = new Set(
      STANDARD_TOOLS.flatMap(({ definition, aliases }) => [definition.name, ...(aliases ?? [])]).concat(
        'task',
        'delegate',
        'invoke_skill',
      ),
    );
    const offered = tools.map((tool) => ({
      tool,
      name: taken.has(tool.name) ? `mcp_${tool.name}`.slice(0, MAX_TOOL_NAME) : tool.name,
    }));
    const before = new Set(this.tools.map(({ definition }) => definition.name));
    this.tools = offered
      .filter(({ name }) => watch.lets(name))
      .map(({ tool, name }) =>
        mcpTool(tool, name, (called, { server, tool: own, data }, { signal, ports, event }) =>
          this.watched(event.id, ports, signal, () =>
            this.call(
              { name: called, server, tool: own, arguments: data, call: event.id },
              { signal, traceparent: ports.traceparent() },
            ),
          ),
        ),
      );
    // One message about all of them, unless that delays the run.
    if (!watch.heard && servers.some(({ state }) => state === 'connecting')) return;
    const states = servers.map((server) => ({
      ...server,
      tools: offered.filter(({ tool, name }) => tool.server === server.name && watch.lets(name)).length,
    }));
    const response = states.flatMap((now) => {
      const was = this.states.find(({ name }) => name === now.name);
      const fresh = offered
        .filter(({ tool, name }) => tool.server === now.name && watch.lets(name) && !before.has(name))
        .map(({ name }) => name);
      return wordsFor(was, now, fresh);
    });
    const first = this.states.length === 0 || this.states.some(({ state }) => state === 'connecting');
    const isNews = response.length > 0 || (first && states.every(({ state }) => state !== 'connecting'));
    this.states = states;
    if (!isNews || this.updates >= MAX_UPDATES) return;
    this.updates += 1;
    // A log that takes no more has other worries.
    await this.note({ servers: states, told: response.join('\n') }).catch(() => {});
  }
}

/** Notice to the agent about a server: missing tools and the reason, and tools that came since. */
function wordsFor(was: McpServerState | undefined, now: McpServerState, fresh: readonly string[]): string[] {
  const name = JSON.stringify(now.name);
  const why = [now.reason, now.nextStep].filter((part) => part !== undefined).join(' ');
  if (now.state === 'failed' && (was?.state !== 'failed' || was.reason !== now.reason))
    return [
      `The MCP server ${name} is not available, and its tools are missing. ${why} It is tried again by itself; its tools appear when it answers.`,
    ];
  if (now.state === 'off' && (was?.state !== 'off' || was.reason !== now.reason))
    return [`The MCP server ${name} is not used. ${why}`];
  if (now.state !== 'ready') return [];
  const left =
    now.dropped.length > 0 && was?.state !== 'ready'
      ? [`Of the tools of the MCP server ${name} these cannot be used: ${now.dropped.join('; ')}.`]
      : [];
  if (was === undefined) return left;
  if (was.state !== 'ready')
    return [
      `The MCP server ${name} is available now${fresh.length === 0 ? '' : `, with the tools ${fresh.join(', ')}`}.`,
      ...left,
    ];
  return fresh.length === 0 ? left : [`The MCP server ${name} has more tools now: ${fresh.join(', ')}.`];
}
