import { once } from 'node:events';
import type { Transform } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { ToolPort } from '@slipway/agent';
import {
  type ConfigureRequest,
  ExecuteActionResponse,
  type MCPToolObservation,
  type RunCommandRequest,
  RunCommandResponse,
  type SandboxAction,
  type SandboxObservation,
  UnavailableTools,
} from '@slipway/contracts/actions';
import { type McpCallRequest, McpCallResponse } from '@slipway/contracts/agent';
import { MAX_SEEN_PICTURE_BYTES } from '@slipway/contracts/conversations';
import type { TurnHunkRequest } from '@slipway/contracts/repositories';
import { OpenVscodeResponse, VscodeStatus } from '@slipway/contracts/sandboxes';
import { SlipwayError } from '@slipway/errors';
import { currentTraceparent, traceHeaders } from '@slipway/telemetry';
import { callJson, callOut, readAnswer, wasNeverSent } from '../http/outgoing.js';
import type { Call } from '../http/router.js';
import { rawDownload } from './raw-download.js';
import { NotThere, notThere, refusedByTool } from './tool-process-failure.js';
import { TurnMarks } from './turn-marks.js';
import { watched } from './watched-output.js';
import { WorkspaceArchive } from './workspace-archive.js';
import { WorkspaceCheckpoints } from './workspace-checkpoints.js';

/** How long a tool call waits for the tool process to come back. Milliseconds. */
const COME_BACK_MS = 15_000;
const LOOK_EVERY_MS = 100;
const CONFIGURE_TIMEOUT_MS = 5_000;
const UNAVAILABLE_TIMEOUT_MS = 1_000;
/** Longest that a turn's beginning or a hunk may take. Milliseconds; 100,000 files take about one second. */
const GIT_TIMEOUT_MS = 5_000;
/** It says itself when it does not start. Milliseconds. */
const VSCODE_TIMEOUT_MS = 60_000;
/** No action takes longer: its own limit is an hour at most. Milliseconds. */
const ACTION_CEILING_MS = 3_660_000;

export interface PostOptions {
  readonly signal: AbortSignal;
  readonly traceparent: string;
  readonly timeoutMs: number;
}

/**
 * The sandbox's tool process. It may die and come back at any time; it is then given the environment again before it is
 * asked anything. Aborting a call closes its connection, which kills what the call had started.
 */
export class ActionServerClient implements ToolPort {
  private settings: {
    readonly env: Readonly<Record<string, string>>;
    readonly secrets: Readonly<Record<string, string>>;
    readonly typed: ConfigureRequest['typed'];
    readonly working_dir?: string;
  } = { env: {}, secrets: {}, typed: {} };
  /** Instance of the process that got `settings`; `null` when none has. */
  private configured: string | null = null;
  private configuring: Promise<void> | undefined;
  readonly archive: WorkspaceArchive;
  readonly checkpoints: WorkspaceCheckpoints;
  private readonly marks = new TurnMarks((turn) =>
    this.attempt('/git/mark', { turn }, AbortSignal.timeout(GIT_TIMEOUT_MS), currentTraceparent()),
  );

  constructor(
    private readonly url: string,
    private readonly token: string,
    private readonly comeBackMs = COME_BACK_MS,
  ) {
    this.archive = new WorkspaceArchive(url, token);
    this.checkpoints = new WorkspaceCheckpoints(url, token);
  }

  /**
   * Adds to the environment of every shell that is started from now on. @param typed as `setSecrets`; absent: as it is.
   */
  addEnv(env: Readonly<Record<string, string>>, typed = this.settings.typed): void {
    this.change({ ...this.settings, env: { ...this.settings.env, ...env }, typed });
  }

  /**
   * What was handed over as secrets, in place of those of before; a shell that runs is ended only if that is a change.
   * @param typed which of all variables the browser may type by name, each with the site that takes it.
   */
  setSecrets(secrets: Readonly<Record<string, string>>, typed: ConfigureRequest['typed']): void {
    if (!isDeepStrictEqual([this.settings.secrets, this.settings.typed], [secrets, typed]))
      this.change({ ...this.settings, secrets, typed });
  }

  /** The agent's shell begins in this directory from now on. */
  workIn(directory: string): void {
    if (this.settings.working_dir !== directory) this.change({ ...this.settings, working_dir: directory });
  }

  /**
   * Kinds of action that the sandbox's image cannot do. Best effort, for at most a second: of a tool process that is
   * away nothing is known, and each tool says it itself.
   */
  async unavailable(): Promise<UnavailableTools['unavailable']> {
    const answer = await this.ask('GET', '/unavailable-tools', undefined, UNAVAILABLE_TIMEOUT_MS).catch(() => null);
    return UnavailableTools.safeParse(answer).data?.unavailable ?? {};
  }

  /**
   * Has the tool process remember what the repositories hold now, as the beginning of a turn; actions wait until it
   * has. Best effort: what fails or takes too long leaves the turn without a beginning to compare with.
   */
  markTurn(turn: string): void {
    this.marks.mark(turn);
  }

  /** Waits until the beginning of the turn is remembered. @throws as `TurnMarks.marked`. */
  turnMarked(turn: string): Promise<void> {
    return this.marks.marked(turn);
  }

  /**
   * Stops a program that an action left running in the terminal. Best effort, for at most `timeoutMs`: a tool process
   * that is away runs nothing.
   */
  async interruptTerminal(timeoutMs: number): Promise<void> {
    await this.attempt('/interrupt_terminal', {}, AbortSignal.timeout(timeoutMs), currentTraceparent()).catch(() => {});
  }

  /**
   * @throws SlipwayError with a sentence for the model (`sandbox.tool-unavailable`, or what the tool process refused
   * with), or the signal's reason.
   */
  async execute(
    action: SandboxAction,
    { signal, traceparent, watch, actionId }: Parameters<ToolPort['execute']>[1],
  ): Promise<SandboxObservation> {
    await orAborted(Promise.all([this.marks.settled, this.checkpoints.settled]), signal);
    const body = { action, call: watch?.call, actionId };
    const work = (): Promise<unknown> =>
      this.post('/execute_action', body, { signal, traceparent, timeoutMs: ACTION_CEILING_MS });
    const answer = await (watch === undefined ? work() : watched(this, watch, signal, work));
    const parsed = ExecuteActionResponse.safeParse(answer);
    if (!parsed.success)
      throw new SlipwayError(
        'sandbox.tool-unavailable',
        'The tool answered something that could not be read. Try again.',
        { internal: parsed.error.message },
      );
    return parsed.data.observation;
  }

  /** One question in the background, whose answer may take as long as `signal` lets it. Nothing is tried again here. */
  async request(
    method: 'GET' | 'POST' | 'PUT',
    path: string,
    body: unknown,
    signal: AbortSignal,
  ): Promise<{ status: number; body: unknown }> {
    await orAborted(this.prepare(), signal);
    const headers = { 'content-type': 'application/json', 'x-session-api-key': this.token, ...traceHeaders() };
    return callJson({
      method,
      url: `${this.url}${path}`,
      headers,
      signal,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  /** A call of a tool of an MCP server, which `set` of servers has. @throws as `execute`. */
  async callMcp(
    set: string,
    call: McpCallRequest,
    context: { readonly signal: AbortSignal; readonly traceparent: string },
  ): Promise<MCPToolObservation> {
    const answer = await this.post(`/mcp/call?set=${encodeURIComponent(set)}`, call, {
      signal: context.signal,
      traceparent: context.traceparent,
      timeoutMs: ACTION_CEILING_MS,
    });
    const parsed = McpCallResponse.safeParse(answer);
    if (!parsed.success)
      throw new SlipwayError('sandbox.tool-unavailable', 'The tool answered something that could not be read.', {
        internal: parsed.error.message,
      });
    return parsed.data.observation;
  }

  /** One command outside the agent's shell. @throws as `execute`. */
  async runCommand(request: RunCommandRequest, signal: AbortSignal): Promise<RunCommandResponse> {
    const answer = await this.post('/bash/execute', request, {
      signal,
      traceparent: currentTraceparent(),
      timeoutMs: (request.timeout + 30) * 1000,
    });
    const parsed = RunCommandResponse.safeParse(answer);
    if (!parsed.success)
      throw new SlipwayError(
        'sandbox.tool-unavailable',
        'The tool process answered something that could not be read.',
        { internal: parsed.error.message },
      );
    return parsed.data;
  }

  /** Takes a hunk of the changes back, or puts it back. @throws as `execute`. */
  async turnHunk(hunk: TurnHunkRequest, signal: AbortSignal): Promise<void> {
    await this.post('/git/turn_hunk', hunk, { signal, traceparent: currentTraceparent(), timeoutMs: GIT_TIMEOUT_MS });
  }

  /** Whether VS Code is there and runs. @throws as `execute`. */
  async vscodeStatus(): Promise<VscodeStatus> {
    const answer = await this.ask('GET', '/vscode/status').catch((error: unknown) => {
      throw new SlipwayError('sandbox.tool-unavailable', 'The tool process of the sandbox does not answer.', {
        cause: error,
        retryAfterSeconds: 1,
      });
    });
    return VscodeStatus.parse(answer);
  }

  /** Starts VS Code unless it runs, where the image has it; the answer says why not. @throws as `execute`. */
  async openVscode(host: string, signal: AbortSignal): Promise<OpenVscodeResponse> {
    return OpenVscodeResponse.parse(
      await this.post(
        '/vscode/open',
        { host },
        { signal, traceparent: currentTraceparent(), timeoutMs: VSCODE_TIMEOUT_MS },
      ),
    );
  }

  /**
   * Hands a request on as it is, body and answer streamed (the answer `through` what is given), to `path` there with
   * the same query. @throws SlipwayError `sandbox.tool-unavailable`.
   */
  async forward(call: Call, path: string, through?: Transform): Promise<undefined> {
    const { response } = call;
    const answer = await this.passOn(call, path);
    const passed: Record<string, string | string[]> = {};
    for (const name of [
      'content-type',
      'content-length',
      'content-disposition',
      'content-range',
      'accept-ranges',
      'retry-after',
      'etag',
    ]) {
      const value = answer.headers[name];
      if (value !== undefined && !(through !== undefined && name === 'content-length')) passed[name] = value;
    }
    response.writeHead(answer.statusCode, passed);
    // Not `pipeline`: a source that breaks off must break the answer too, and must not end cleanly.
    answer.body.once('error', () => response.destroy());
    (through === undefined ? answer.body : answer.body.pipe(through)).pipe(response);
    await once(response, 'close');
    return undefined;
  }

  /**
   * As `forward`, for files: what is said of a file that is not given is forwarded, the bytes of one that is go past
   * every parser. @throws as `forward`.
   */
  async download(call: Call, path: string): Promise<undefined> {
    await this.prepare().catch((error: unknown) => Promise.reject(notThere(error)));
    const headers = { 'x-session-api-key': this.token, ...traceHeaders() };
    const url = new URL(`${this.url}${path}?${call.query}`);
    const handed = await rawDownload({ url, headers, signal: call.signal }, call.response).catch((error: unknown) =>
      Promise.reject(notThere(error)),
    );
    return handed ? undefined : this.forward(call, path);
  }

  /** As `forward`, with the answer read as JSON, for a route whose answer has another form here. */
  async forwardForJson(call: Call, path: string): Promise<{ status: number; body: unknown }> {
    const answer = await this.passOn(call, path);
    return { status: answer.statusCode, body: await readAnswer(answer) };
  }

  /** A file of the workspace; `null` when it is not there or larger than `MAX_SEEN_PICTURE_BYTES`. Rejects as `ask`. */
  async readFile(path: string): Promise<Buffer | null> {
    await this.prepare();
    const answer = await callOut({
      method: 'GET',
      url: `${this.url}/file/download?path=${encodeURIComponent(path)}`,
      headers: { 'x-session-api-key': this.token },
      signal: AbortSignal.timeout(CONFIGURE_TIMEOUT_MS),
    });
    if (answer.statusCode !== 200) {
      await answer.body.dump();
      return null;
    }
    const parts: Buffer[] = [];
    let bytes = 0;
    for await (const part of answer.body as AsyncIterable<Buffer>) {
      bytes += part.length;
      // Leaving the loop ends the answer.
      if (bytes > MAX_SEEN_PICTURE_BYTES) return null;
      parts.push(part);
    }
    return Buffer.concat(parts, bytes);
  }

  /** Where a live channel is, once the process is there and has its environment. Rejects when it does not answer. */
  async liveAddress(
    channel: string,
    query: URLSearchParams,
  ): Promise<{ url: string; headers: Record<string, string> }> {
    await this.prepare();
    return {
      url: `${this.url.replace(/^http/, 'ws')}/live/${channel}?${query}`,
      headers: { 'x-session-api-key': this.token },
    };
  }

  private async passOn(call: Call, path: string): Promise<Awaited<ReturnType<typeof callOut>>> {
    const query = call.query.toString();
    const { request } = call;
    const headers: Record<string, string> = { 'x-session-api-key': this.token, ...traceHeaders() };
    for (const name of ['content-type', 'content-length', 'accept', 'range'] as const) {
      const value = request.headers[name];
      if (value !== undefined) headers[name] = value;
    }
    try {
      await this.prepare();
      const method = request.method === 'POST' ? 'POST' : 'GET';
      return await callOut({
        method,
        url: `${this.url}${path}${query === '' ? '' : `?${query}`}`,
        headers,
        ...(method === 'POST' ? { body: request } : {}),
        signal: call.signal,
      });
    } catch (error) {
      throw notThere(error);
    }
  }

  private async post(path: string, body: unknown, { signal, traceparent, timeoutMs }: PostOptions): Promise<unknown> {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const until = performance.now() + this.comeBackMs;
    for (;;) {
      const answer = await this.attempt(path, body, limit, traceparent).catch((error: unknown) => {
        signal.throwIfAborted();
        if (!(error instanceof NotThere) && !wasNeverSent(error))
          throw new SlipwayError(
            'sandbox.tool-unavailable',
            'The tool process stopped while it was at work; what was asked may or may not have had its effect. It is being restarted.',
            { cause: error },
          );
        return null;
      });
      if (answer !== null && answer.status < 300) return answer.body;
      if (answer !== null && answer.status !== 503) {
        throw refusedByTool(answer.status, answer.body);
      }
      if (performance.now() > until)
        throw new SlipwayError(
          'sandbox.tool-unavailable',
          `The tool process of the sandbox did not answer for ${Math.round(this.comeBackMs / 1000)} s; nothing was done. Try again later.`,
        );
      await wait(LOOK_EVERY_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }

  private async attempt(
    path: string,
    body: unknown,
    signal: AbortSignal,
    traceparent: string,
  ): Promise<{ status: number; body: unknown }> {
    await orAborted(this.prepare(), signal);
    return callJson({
      method: 'POST',
      url: `${this.url}${path}`,
      headers: { 'content-type': 'application/json', 'x-session-api-key': this.token, traceparent },
      body: JSON.stringify(body),
      signal,
    });
  }

  /**
   * Makes sure that the process is there and has the environment; a restarted one gets it again. Concurrent callers
   * share it.
   */
  private prepare(): Promise<void> {
    this.configuring ??= this.configure().finally(() => {
      this.configuring = undefined;
    });
    return this.configuring;
  }

  private async configure(): Promise<void> {
    const alive = await this.ask('GET', '/alive');
    const instance = String((alive as { instance?: unknown } | null)?.instance ?? '');
    if (instance === this.configured) return;
    // Until nothing was changed in the meantime: whoever waits for this may have changed it.
    for (let sent: ActionServerClient['settings'] | undefined; sent !== this.settings; ) {
      sent = this.settings;
      const { env, secrets, ...rest } = sent;
      await this.ask('POST', '/configure', { ...rest, env: { ...env, ...secrets } });
    }
    this.configured = instance;
  }

  private change(settings: ActionServerClient['settings']): void {
    this.settings = settings;
    this.configured = null;
    // Sent ahead of the first call, where a failure shows.
    this.prepare().catch(() => {});
  }

  /** Nothing has been done when this rejects. */
  private async ask(
    method: 'GET' | 'POST',
    path: string,
    body?: unknown,
    timeoutMs = CONFIGURE_TIMEOUT_MS,
  ): Promise<unknown> {
    const headers = { 'content-type': 'application/json', 'x-session-api-key': this.token };
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const answer = await callJson({
        method,
        url: `${this.url}${path}`,
        headers,
        signal,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      if (answer.status < 300) return answer.body;
      throw new Error(`status ${answer.status}`);
    } catch (error) {
      throw new NotThere(`${path}: ${String(error)}`, { cause: error });
    }
  }
}

/** The work's result, or at once the signal's reason. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
