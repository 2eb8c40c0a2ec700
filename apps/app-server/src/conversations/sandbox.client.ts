import { Agent, type IncomingMessage, type RequestOptions, request } from 'node:http';
import type { Readable } from 'node:stream';
import {
  AppliedSettings,
  type ApplySettings,
  applyEarlier,
  CALLER_KEY_HEADER,
  type McpTestRequest,
  McpTestResponse,
  type RefusedSetting,
  type SandboxSecrets,
} from '@slipway/contracts/agent';
import { type RespondToConfirmationRequest, type RevokeConfirmationRule } from '@slipway/contracts/conversations';
import { GitCommitsPage, GitRepositories } from '@slipway/contracts/repositories';
import { THROUGH_GATEWAY_HEADER, VscodeUrl } from '@slipway/contracts/sandboxes';
import { SlipwayError } from '@slipway/errors';
import { traceHeaders } from '@slipway/telemetry';
import { z } from 'zod';
import { type AnswerBound, bytesOf, textOf } from './sandbox-answers.js';
import { MAX_LIST_BYTES, MAX_PATCH_BYTES } from './sandbox-reads.js';

/** Longest wait for a stop or a run to be taken. Milliseconds. */
const CONTROL_TIMEOUT_MS = 3_000;
/** Longest wait for what a model has to say. Milliseconds. */
const MODEL_TIMEOUT_MS = 120_000;
/** Longest wait for the workspace's changes; what was last seen is shown after that. Milliseconds. */
const READ_TIMEOUT_MS = 5_000;
/** Longest wait for VS Code to start. Milliseconds. */
const EDITOR_TIMEOUT_MS = 60_000;
/** Longest that a patch may take to its last byte. Milliseconds. */
const STREAM_TIMEOUT_MS = 120_000;
/** Largest answer to what changes something, and largest refusal. Bytes. */
const MAX_CONTROL_BYTES = 64 * 1024;
/** Largest answer of a model, and of a test of an MCP server. Bytes. */
const MAX_WORDS_BYTES = 1024 * 1024;
/** Past the forward proxy that this process may have: a sandbox is at an address of the cluster's own, which no list of names could except. */
const agent = new Agent();
const JSON_BODY = { 'content-type': 'application/json' };

/** Files of a repository, and what they are compared with: one of the three at most. None: where the repository's branch began. */
export interface WorkspaceSide {
  /** Absolute, or from the workspace. */
  readonly directory: string;
  /** A commit. */
  readonly base: string | null;
  /** Whose last message. */
  readonly turn: string | null;
  /** What this commit did. */
  readonly commit: string | null;
}

/** Empty, or the pass by which model calls count for who asks (`CHARGE_PASS_HEADER`). */
export type ChargePassHeader = Readonly<Record<string, string>>;

export interface SandboxAddress {
  readonly url: string;
  readonly sessionKey: string;
  /** Key that authenticates the app as caller; left out where only the session key is needed. */
  readonly appKey?: string;
}

interface SentRequest {
  /** Statuses beside 2xx whose answer is read. */
  readonly alsoFine?: readonly number[];
  /** Sent as JSON. */
  readonly body?: object;
  /** Beside those that every request has. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * agent-server of one sandbox, for what cannot wait for a job. Every failure is `sandbox.unreachable`, but for what a method says itself and an answer that is `file.too-large`.
 * No answer is trusted with our memory or our time: each has a bound and a deadline (`sandbox-answers.ts`).
 */
export class SandboxClient {
  constructor(
    private readonly sandbox: SandboxAddress,
    private readonly conversationId: string,
    /** Whose room the answers of reads take. What changes something has none: its answers are small. */
    private readonly slot: AnswerBound['slot'] = { take: () => true },
  ) {}

  /** Halts the run at once. */
  async interrupt(): Promise<void> {
    await this.call('POST', `/api/conversations/${this.conversationId}/interrupt`, CONTROL_TIMEOUT_MS);
  }

  /** Lets the agent go on; that it runs already is fine. Accepts nothing. @throws SlipwayError `conversation.awaits-confirmation`. */
  async run(): Promise<void> {
    try {
      // An earlier agent-server takes a run for a yes, but not one with this header under four eyes.
      await this.call('POST', `/api/conversations/${this.conversationId}/run`, CONTROL_TIMEOUT_MS, { headers: { [THROUGH_GATEWAY_HEADER]: 'app' } });
    } catch (error) {
      const code = error instanceof SlipwayError ? error.code : null;
      if (code === 'conversation.busy') return;
      if (code === 'conversation.four-eyes') throw new SlipwayError('conversation.awaits-confirmation', OUR_WORDS['conversation.awaits-confirmation'] ?? '');
      throw error;
    }
  }

  /**
   * @returns whether the answer's event says who gave it, so that the audit entry of a no is written with it. An earlier agent-server's does not.
   * @throws SlipwayError `conversation.nothing-to-confirm` when something else waits by now, or nothing.
   */
  async respond(answer: RespondToConfirmationRequest): Promise<{ isAudited: boolean }> {
    const text = await this.call('POST', `/api/conversations/${this.conversationId}/events/respond_to_confirmation`, CONTROL_TIMEOUT_MS, { body: answer });
    return { isAudited: z.object({ answer_id: z.string() }).safeParse(problemOf(text)).success };
  }

  /** From the agent's next step on; a dry run changes nothing. Settings that the agent refuses are in the answer. */
  async applySettings(request: ApplySettings): Promise<AppliedSettings> {
    const path = `/api/slipway/conversations/${this.conversationId}/settings`;
    const answer = problemOf(await this.call('PUT', path, CONTROL_TIMEOUT_MS, { alsoFine: [404], body: request }));
    const applied = AppliedSettings.safeParse(answer);
    if (applied.success) return applied.data;
    if (!IS_MISSING.safeParse(answer).success)
      throw new SlipwayError('sandbox.unreachable', 'The sandbox gave an answer about its settings that cannot be read.');
    // An agent-server of the release before does not know the route, nor does any know a conversation that it does not have. Goes in 0.2.0.
    const send = (route: string, body: object): Promise<string> =>
      this.call('POST', route, CONTROL_TIMEOUT_MS, { alsoFine: request.dryRun ? [404] : [], body });
    return applyEarlier(this.conversationId, request, send, refusalOf);
  }

  /** The agent asks again. */
  async revokeRule(rule: RevokeConfirmationRule): Promise<void> {
    await this.call('POST', `/api/slipway/conversations/${this.conversationId}/revoke_rule`, CONTROL_TIMEOUT_MS, { body: rule });
  }

  /**
   * Summarizes earlier steps, charged to the pass; when idle it is done when this resolves. @throws SlipwayError
   * `conversation.not-running`, `budget.exhausted`, `model.*`.
   */
  async condense(pass: ChargePassHeader): Promise<void> {
    await this.call('POST', `/api/conversations/${this.conversationId}/condense`, MODEL_TIMEOUT_MS, { headers: { ...pass } });
  }

  /** @throws SlipwayError as `condense`. */
  async askAgent(question: string, pass: ChargePassHeader): Promise<string> {
    const text = await this.call('POST', `/api/conversations/${this.conversationId}/ask_agent`, MODEL_TIMEOUT_MS, {
      body: { question },
      maxBytes: MAX_WORDS_BYTES,
      headers: { ...pass },
    });
    try {
      return z.object({ response: z.string() }).parse(JSON.parse(text)).response;
    } catch (error) {
      throw new SlipwayError('sandbox.unreachable', 'The sandbox gave an answer that is none.', { cause: error });
    }
  }

  /**
   * A JSON list of `GitChange`, not parsed. @throws SlipwayError `changes.turn-unknown`, `changes.commit-unknown`,
   * `repository.not-found`, `file.too-large`.
   */
  changes(side: WorkspaceSide): Promise<string> {
    return this.call('GET', `/api/git/changes?${sideQuery(side)}`, READ_TIMEOUT_MS, { maxBytes: MAX_LIST_BYTES });
  }

  /** For `git apply`; of one file when it is named. Its first byte comes in five seconds, its last in two minutes, or it breaks off. @throws as `changes`. */
  async patch(side: WorkspaceSide, file: string | undefined): Promise<Readable> {
    const path = `/api/git/patch?${sideQuery(side)}&max_bytes=${MAX_PATCH_BYTES}${file === undefined ? '' : `&file=${encodeURIComponent(file)}`}`;
    const late = new AbortController();
    const head = setTimeout(() => late.abort(new Error('no answer in time')), READ_TIMEOUT_MS);
    try {
      const response = await this.ask('GET', path, AbortSignal.any([late.signal, AbortSignal.timeout(STREAM_TIMEOUT_MS)]));
      return bytesOf(response, MAX_PATCH_BYTES);
    } finally {
      clearTimeout(head);
    }
  }

  repositories(): Promise<GitRepositories> {
    return this.read('repositories?path=.', GitRepositories);
  }

  /** @throws SlipwayError `repository.not-found`. */
  commits(
    { directory, base }: Pick<WorkspaceSide, 'directory' | 'base'>,
    page: { readonly cursor: string | undefined; readonly limit: number },
  ): Promise<GitCommitsPage> {
    const cursor = page.cursor === undefined ? '' : `&page_id=${encodeURIComponent(page.cursor)}`;
    return this.read(`commits?${sideQuery({ directory, base, turn: null, commit: null })}&limit=${page.limit}${cursor}`, GitCommitsPage);
  }

  /** Starts VS Code where the image has it. `path` is that on its own origin. */
  async editor(directory: string): Promise<{ path: string | null; reason: string | null }> {
    const text = await this.call('GET', `/api/vscode/url?workspace_dir=${encodeURIComponent(directory)}`, EDITOR_TIMEOUT_MS);
    try {
      const { url, reason } = VscodeUrl.parse(JSON.parse(text));
      const { pathname, search } = new URL(url ?? 'http://nowhere/');
      return { path: url === null ? null : `${pathname}${search}`, reason };
    } catch (error) {
      throw new SlipwayError('sandbox.unreachable', 'The sandbox gave an answer about its editor that cannot be read.', { cause: error });
    }
  }

  /** What commands and servers in it may use, in place of what there was. */
  async setSecrets(secrets: SandboxSecrets): Promise<void> {
    await this.call('POST', '/api/slipway/secrets', READ_TIMEOUT_MS, { body: secrets });
  }

  /** Reaches an MCP server once, from inside of it. */
  async testMcpServer(request: McpTestRequest): Promise<McpTestResponse> {
    const text = await this.call('POST', '/api/mcp/test', request.timeout * 1000 + READ_TIMEOUT_MS, { body: request, maxBytes: MAX_WORDS_BYTES });
    try {
      return McpTestResponse.parse(JSON.parse(text));
    } catch (error) {
      throw new SlipwayError('sandbox.unreachable', 'The sandbox gave an answer about the server that cannot be read.', { cause: error });
    }
  }

  private async read<T extends z.ZodType>(path: string, schema: T): Promise<z.output<T>> {
    const text = await this.call('GET', `/api/git/${path}`, READ_TIMEOUT_MS, { maxBytes: MAX_LIST_BYTES });
    try {
      return schema.parse(JSON.parse(text));
    } catch (error) {
      throw new SlipwayError('sandbox.unreachable', 'The sandbox gave an answer about its repositories that cannot be read.', { cause: error });
    }
  }

  private async call(
    method: 'GET' | 'POST' | 'PUT',
    path: string,
    timeoutMs: number,
    { maxBytes = MAX_CONTROL_BYTES, ...sent }: SentRequest & { readonly maxBytes?: number } = {},
  ): Promise<string> {
    try {
      const response = await this.ask(method, path, AbortSignal.timeout(timeoutMs), sent);
      return await textOf(response, { maxBytes, slot: this.slot });
    } catch (error) {
      if (error instanceof SlipwayError) throw error;
      throw new SlipwayError('sandbox.unreachable', 'The sandbox does not answer.', { cause: error });
    }
  }

  /** The answer with its head only. `signal` ends its body, too. */
  private async ask(
    method: 'GET' | 'POST' | 'PUT',
    path: string,
    signal: AbortSignal,
    { alsoFine = [], body, headers: more = {} }: SentRequest = {},
  ): Promise<IncomingMessage> {
    try {
      const { sessionKey, appKey } = this.sandbox;
      const headers = {
        'x-session-api-key': sessionKey,
        ...(appKey === undefined ? {} : { [CALLER_KEY_HEADER]: appKey }),
        'accept-encoding': 'identity',
        ...traceHeaders(),
        ...(body === undefined ? {} : JSON_BODY),
        ...more,
      };
      const options = { method, headers, signal, agent };
      const response = await answerOf(`${this.sandbox.url.replace(/\/+$/, '')}${path}`, options, body === undefined ? '' : JSON.stringify(body));
      const { statusCode: status = 0 } = response;
      if ((status >= 200 && status <= 299) || alsoFine.includes(status)) return response;
      const refusal = await textOf(response, { maxBytes: MAX_CONTROL_BYTES, slot: this.slot }).catch(() => '');
      response.destroy();
      throwPassedOn(refusal);
      throw new SlipwayError('sandbox.unreachable', 'The sandbox refused the request.', { internal: `${method} ${path} answered ${status}` });
    } catch (error) {
      if (error instanceof SlipwayError) throw error;
      throw new SlipwayError('sandbox.unreachable', 'The sandbox does not answer.', { cause: error });
    }
  }
}

/** Refusals about the user's request, not about us: passed on unchanged. */
const PASSED_ON = z.object({
  code: z.enum([
    'conversation.nothing-to-confirm',
    'conversation.awaits-confirmation',
    'conversation.four-eyes',
    'conversation.busy',
    'conversation.not-running',
    'budget.exhausted',
    'agent.budget-limit',
    'model.unavailable',
    'model.rate-limited',
    'model.timeout',
    'model.context-exceeded',
    'changes.turn-unknown',
    'changes.commit-unknown',
    'repository.not-found',
    'file.too-large',
  ]),
  detail: z.string().max(2_000).optional(),
});
/** Where those of the sandbox are for programs. */
const OUR_WORDS: Readonly<Partial<Record<string, string>>> = {
  'conversation.nothing-to-confirm': 'What this answers no longer waits for an answer.',
  'conversation.awaits-confirmation': 'The agent waits for a yes or a no to what it asks for.',
  'conversation.not-running': 'The process in its sandbox was restarted and knows nothing of it yet.',
  'file.too-large': `The changes are larger than ${MAX_PATCH_BYTES / 1024 / 1024} MiB as text; ask for one file at a time.`,
};

function throwPassedOn(refusal: string): void {
  const problem = problemOf(refusal);
  const known = PASSED_ON.safeParse(problem);
  if (known.success) {
    const { code, detail } = known.data;
    throw new SlipwayError(code, OUR_WORDS[code] ?? detail ?? 'The agent refuses it as it is now.');
  }
  // The ceiling of the installation is known there alone. Goes in 0.2.0, with `applyEarlier`.
  const steps = TOO_MANY_STEPS.safeParse(problem);
  if (!steps.success) return;
  const { message } = steps.data.fields[0];
  throw new SlipwayError('request.invalid', `maxIterations: ${message}`, { fields: [{ path: 'maxIterations', message }] });
}

const TOO_MANY_STEPS = z.object({
  code: z.literal('request.invalid'),
  fields: z.tuple([z.object({ path: z.literal('max_iterations'), message: z.string().max(200) })]),
});

const IS_MISSING = z.object({ code: z.literal('resource.not-found') });

function refusalOf(error: unknown): Omit<RefusedSetting, 'setting'> | null {
  if (!(error instanceof SlipwayError) || (error.code !== 'conversation.busy' && error.code !== 'request.invalid')) return null;
  return { code: error.code, detail: error.more.fields?.[0]?.message ?? error.detail };
}

function problemOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function sideQuery({ directory, ...against }: WorkspaceSide): string {
  const named = Object.entries(against).flatMap(([name, value]) => (value === null ? [] : [`&${name}=${encodeURIComponent(value)}`]));
  return `path=${encodeURIComponent(directory)}${named.join('')}`;
}

function answerOf(url: string, options: RequestOptions, body: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => void request(url, options).once('response', resolve).once('error', reject).end(body));
}
