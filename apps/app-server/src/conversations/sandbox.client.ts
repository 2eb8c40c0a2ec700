import { Agent, type IncomingMessage, type RequestOptions, request } from 'node:http';
import {
  type AgentTerms,
  GitChange,
  GitCommitsPage,
  GitRepositories,
  type McpTestRequest,
  McpTestResponse,
  type RespondToConfirmationRequest,
  type RevokeConfirmationRule,
  type SandboxSecrets,
  type ToldBrake,
  VscodeUrl,
} from '@slipway/contracts';
import { SlipwayError } from '@slipway/errors';
import { makeTraceparent } from '@slipway/telemetry';
import { z } from 'zod';

/** Longest wait for a stop or a run to be taken. Milliseconds. */
const CONTROL_TIMEOUT_MS = 3_000;
/** Longest wait for what a model has to say. Milliseconds. */
const MODEL_TIMEOUT_MS = 120_000;
/** Longest wait for the workspace's changes; what was last seen is shown after that. Milliseconds. */
const READ_TIMEOUT_MS = 5_000;
/** Longest wait for VS Code to start. Milliseconds. */
const EDITOR_TIMEOUT_MS = 60_000;
/** Largest answer that is read. Bytes. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
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

export interface SandboxAddress {
  readonly url: string;
  readonly sessionKey: string;
}

/** agent-server of one sandbox, for what cannot wait for a job. Every failure is `sandbox.unreachable`, but for what a method says itself and an answer that is `file.too-large`. */
export class SandboxClient {
  constructor(
    private readonly sandbox: SandboxAddress,
    private readonly conversationId: string,
  ) {}

  /** Halts the run at once. */
  async interrupt(): Promise<void> {
    await this.call('POST', `/api/conversations/${this.conversationId}/interrupt`, CONTROL_TIMEOUT_MS);
  }

  /** Lets the agent go on; that it runs already is fine. */
  async run(): Promise<void> {
    await this.call('POST', `/api/conversations/${this.conversationId}/run`, CONTROL_TIMEOUT_MS, [409]);
  }

  /** @throws SlipwayError `conversation.nothing-to-confirm` when something else waits by now, or nothing. */
  async respond(answer: RespondToConfirmationRequest): Promise<void> {
    await this.call('POST', `/api/conversations/${this.conversationId}/events/respond_to_confirmation`, CONTROL_TIMEOUT_MS, [], answer);
  }

  /** Says when the agent asks, from its next step on. */
  async setBrake(told: ToldBrake): Promise<void> {
    await this.call('POST', `/api/slipway/conversations/${this.conversationId}/brake`, CONTROL_TIMEOUT_MS, [], told);
  }

  /** Whether `setTerms` would be refused now; changes nothing. One that is too old to say has no objection. @throws SlipwayError as that. */
  async checkTerms(terms: AgentTerms): Promise<void> {
    await this.call('POST', `/api/slipway/conversations/${this.conversationId}/terms/check`, CONTROL_TIMEOUT_MS, [404], terms);
  }

  /** How far the agent goes by itself, from its next step on. @throws SlipwayError `conversation.busy`, `request.invalid` beyond the ceiling of its steps. */
  async setTerms(terms: AgentTerms): Promise<void> {
    await this.call('POST', `/api/slipway/conversations/${this.conversationId}/terms`, CONTROL_TIMEOUT_MS, [], terms);
  }

  /** The agent asks again. */
  async revokeRule(rule: RevokeConfirmationRule): Promise<void> {
    await this.call('POST', `/api/slipway/conversations/${this.conversationId}/revoke_rule`, CONTROL_TIMEOUT_MS, [], rule);
  }

  /** Earlier steps are summarized: at rest when this resolves. @throws SlipwayError `conversation.not-running`, `budget.exhausted`, `model.*`. */
  async condense(): Promise<void> {
    await this.call('POST', `/api/conversations/${this.conversationId}/condense`, MODEL_TIMEOUT_MS);
  }

  /** @throws SlipwayError as `condense`. */
  async askAgent(question: string): Promise<string> {
    const text = await this.call('POST', `/api/conversations/${this.conversationId}/ask_agent`, MODEL_TIMEOUT_MS, [], { question });
    try {
      return z.object({ response: z.string() }).parse(JSON.parse(text)).response;
    } catch (error) {
      throw new SlipwayError('sandbox.unreachable', 'The sandbox gave an answer that is none.', { cause: error });
    }
  }

  /** @throws SlipwayError `changes.turn-unknown`, `changes.commit-unknown`, `repository.not-found`. */
  changes(side: WorkspaceSide): Promise<GitChange[]> {
    return this.read(`changes?${sideQuery(side)}`, z.array(GitChange));
  }

  /** For `git apply`; of one file when it is named. @throws as `changes`. */
  patch(side: WorkspaceSide, file: string | undefined): Promise<string> {
    return this.call('GET', `/api/git/patch?${sideQuery(side)}${file === undefined ? '' : `&file=${encodeURIComponent(file)}`}`, READ_TIMEOUT_MS);
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
    await this.call('POST', '/api/slipway/secrets', READ_TIMEOUT_MS, [], secrets);
  }

  /** Reaches an MCP server once, from inside of it. */
  async testMcpServer(request: McpTestRequest): Promise<McpTestResponse> {
    const text = await this.call('POST', '/api/mcp/test', request.timeout * 1000 + READ_TIMEOUT_MS, [], request);
    try {
      return McpTestResponse.parse(JSON.parse(text));
    } catch (error) {
      throw new SlipwayError('sandbox.unreachable', 'The sandbox gave an answer about the server that cannot be read.', { cause: error });
    }
  }

  private async read<T extends z.ZodType>(path: string, schema: T): Promise<z.output<T>> {
    const text = await this.call('GET', `/api/git/${path}`, READ_TIMEOUT_MS);
    try {
      return schema.parse(JSON.parse(text));
    } catch (error) {
      throw new SlipwayError('sandbox.unreachable', 'The sandbox gave an answer about its repositories that cannot be read.', { cause: error });
    }
  }

  private async call(method: 'GET' | 'POST', path: string, timeoutMs: number, alsoFine: readonly number[] = [], body?: object): Promise<string> {
    try {
      const headers = { 'x-session-api-key': this.sandbox.sessionKey, traceparent: makeTraceparent(), ...(body === undefined ? {} : JSON_BODY) };
      const options = { method, headers, signal: AbortSignal.timeout(timeoutMs), agent };
      const response = await answerOf(`${this.sandbox.url.replace(/\/+$/, '')}${path}`, options, body === undefined ? '' : JSON.stringify(body));
      const { statusCode: status = 0 } = response;
      if ((status < 200 || status > 299) && !alsoFine.includes(status)) {
        const refusal = await boundedText(response).catch(() => '');
        response.destroy();
        throwPassedOn(refusal);
        throw new SlipwayError('sandbox.unreachable', 'The sandbox refused the request.', { internal: `${method} ${path} answered ${status}` });
      }
      return await boundedText(response);
    } catch (error) {
      if (error instanceof SlipwayError) throw error;
      throw new SlipwayError('sandbox.unreachable', 'The sandbox does not answer.', { cause: error });
    }
  }
}

/** Refusals that are about what a person asked for, and not about us: these they are told as they are. */
const PASSED_ON = z.object({
  code: z.enum([
    'conversation.nothing-to-confirm',
    'conversation.busy',
    'conversation.not-running',
    'budget.exhausted',
    'model.unavailable',
    'model.rate-limited',
    'model.timeout',
    'model.context-exceeded',
    'changes.turn-unknown',
    'changes.commit-unknown',
    'repository.not-found',
  ]),
  detail: z.string().max(2_000).optional(),
});
/** Where those of the sandbox are for programs. */
const OUR_WORDS: Readonly<Partial<Record<string, string>>> = {
  'conversation.nothing-to-confirm': 'What this answers no longer waits for an answer.',
  'conversation.not-running': 'The process in its sandbox was restarted and knows nothing of it yet.',
};

function throwPassedOn(refusal: string): void {
  const problem = problemOf(refusal);
  const known = PASSED_ON.safeParse(problem);
  if (known.success) {
    const { code, detail } = known.data;
    throw new SlipwayError(code, OUR_WORDS[code] ?? detail ?? 'The agent refuses it as it is now.');
  }
  // The one field of ours that it judges: the ceiling of the installation is known there alone.
  const steps = TOO_MANY_STEPS.safeParse(problem);
  if (!steps.success) return;
  const { message } = steps.data.fields[0];
  throw new SlipwayError('request.invalid', `maxIterations: ${message}`, { fields: [{ path: 'maxIterations', message }] });
}

const TOO_MANY_STEPS = z.object({
  code: z.literal('request.invalid'),
  fields: z.tuple([z.object({ path: z.literal('max_iterations'), message: z.string().max(200) })]),
});

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

async function boundedText(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > MAX_ANSWER_BYTES)
      throw new SlipwayError('file.too-large', `The changes are larger than ${MAX_ANSWER_BYTES / 1024 / 1024} MiB as text; ask for one file at a time.`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
