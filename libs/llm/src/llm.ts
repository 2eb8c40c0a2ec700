import { randomUUID } from 'node:crypto';
import { SlipwayError } from '@slipway/errors';
import type { Agent } from 'undici';
import {
  type Completion,
  type CompletionOptions,
  type CompletionRequest,
  type CompletionUsage,
  toWire,
} from './chat.js';
import { asRecord, CompletionAssembler } from './completion-assembler.js';
import { modelErrorOf } from './model-errors.js';
import { costUsd, factsOf, PRICE_HEADER, priceSaid } from './pricing.js';
import { withCallFromWords, withoutCallInDeltas, withToolsInWords } from './prompted-tools.js';
import { readServerSentEvents } from './server-sent-events.js';

export interface LlmConfig {
  /** `https://host/v1`; `/chat/completions` is added. */
  readonly baseUrl: string;
  readonly apiKey: string | null;
  readonly model: string;
  readonly temperature?: number;
  readonly maxOutputTokens?: number;
  /** Longest silence of the model, before its first byte or between two. Milliseconds. */
  readonly idleTimeoutMs: number;
  /**
   * The model makes tool calls by itself [true]. Otherwise they are described and read in words (`prompted-tools.ts`).
   */
  readonly nativeToolCalling?: boolean;
  /** Prompt and answer together, where it is known better than by the catalogue. Tokens. */
  readonly contextWindow?: number;
  /** What its calls are for; the gateway books them by it. */
  readonly usage?: string;
}

/** What the calls of one LLM used so far. */
export type LlmTotals = CompletionUsage & { readonly calls: number };

/** Longest error body that is read. Bytes. */
const MAX_ERROR_BYTES = 64 * 1024;
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * One connection pool for every model call of the process; loaded with the first of them, since a blank sandbox makes
 * none.
 */
let pool: Promise<{ fetch: typeof import('undici').fetch; agent: Agent }> | undefined;
function loadPool(): NonNullable<typeof pool> {
  pool ??= import('undici').then(({ Agent, fetch }) => ({
    fetch,
    // The two time limits are ours (`idleTimeoutMs`): a model may think longer than the library's default.
    agent: new Agent({ headersTimeout: 0, bodyTimeout: 0, connect: { timeout: CONNECT_TIMEOUT_MS } }),
  }));
  return pool;
}

/** Loads what the first call needs, ahead of it. */
export async function preloadLlm(): Promise<void> {
  await loadPool();
}

/**
 * One model behind an OpenAI-compatible address. A call is one attempt: who repeats it, and when, is the caller's
 * (`libs/agent`).
 *
 * Fails with `model.*` codes, or with the signal's reason when it was aborted. Counts what its calls used in `total`.
 */
export class LLM {
  private used: LlmTotals = {
    promptTokens: 0,
    completionTokens: 0,
    cacheReadTokens: 0,
    reasoningTokens: 0,
    costUsd: null,
    calls: 0,
  };

  constructor(private current: LlmConfig) {}

  get config(): LlmConfig {
    return this.current;
  }

  get total(): LlmTotals {
    return this.used;
  }

  /** Another model from the next call on; what was counted stays. */
  use(config: LlmConfig): void {
    this.current = config;
  }

  async complete(request: CompletionRequest, options: CompletionOptions): Promise<Completion> {
    if (this.config.nativeToolCalling !== false) return this.attempt(request, options);
    const onDelta = options.onDelta === undefined ? {} : { onDelta: withoutCallInDeltas(options.onDelta) };
    return withCallFromWords(await this.attempt(withToolsInWords(request), { ...options, ...onDelta }), request.tools);
  }

  private async attempt(request: CompletionRequest, options: CompletionOptions): Promise<Completion> {
    const config = this.current;
    const { fetch, agent } = await loadPool();
    options.signal.throwIfAborted();
    const idle = new AbortController();
    const timer = setTimeout(
      () =>
        idle.abort(
          new SlipwayError('model.timeout', `The model said nothing for ${Math.round(config.idleTimeoutMs / 1000)} s.`),
        ),
      config.idleTimeoutMs,
    );
    const signal = AbortSignal.any([options.signal, idle.signal]);
    try {
      const response = await fetch(`${config.baseUrl.replace(/\/+$/, '')}/chat/completions`, {
        method: 'POST',
        dispatcher: agent,
        signal,
        headers: {
          'content-type': 'application/json',
          accept: 'text/event-stream',
          ...options.headers,
          ...(config.apiKey === null ? {} : { authorization: `Bearer ${config.apiKey}` }),
          ...(options.traceparent === undefined ? {} : { traceparent: options.traceparent }),
          ...(config.usage === undefined ? {} : { 'x-slipway-purpose': config.usage }),
        },
        body: JSON.stringify({
          model: config.model,
          ...toWire(request, factsOf(config.model)?.capabilities?.includes('vision') === true),
          stream: true,
          stream_options: { include_usage: true },
          ...(config.temperature === undefined ? {} : { temperature: config.temperature }),
          ...(config.maxOutputTokens === undefined ? {} : { max_tokens: config.maxOutputTokens }),
        }),
      });
      timer.refresh();
      const body: AsyncIterable<Uint8Array> = response.body ?? emptyBody();
      if (!response.ok)
        throw modelErrorOf(
          response.status,
          errorFields(await readUpTo(body, MAX_ERROR_BYTES)),
          response.headers.get('retry-after'),
        );
      const said = await assemble(
        touching(body, () => timer.refresh()),
        response.headers.get('content-type') ?? '',
        options,
      );
      const completion = { ...said, usage: withCost(said.usage, response.headers.get(PRICE_HEADER)) };
      this.count(completion.usage);
      return completion;
    } catch (error) {
      if (options.signal.aborted) throw options.signal.reason;
      if (error instanceof SlipwayError) throw error;
      if (idle.signal.aborted) throw idle.signal.reason;
      throw new SlipwayError('model.unavailable', 'The connection to the model failed or broke off.', {
        cause: error,
        internal: String((error as { cause?: unknown }).cause ?? error),
      });
    } finally {
      clearTimeout(timer);
      // Closes the connection of a call that ended early; without effect on one that was read to its end.
      idle.abort(new SlipwayError('model.unavailable', 'The call is over.'));
    }
  }

  private count(usage: CompletionUsage): void {
    this.used = {
      calls: this.used.calls + 1,
      promptTokens: this.used.promptTokens + usage.promptTokens,
      completionTokens: this.used.completionTokens + usage.completionTokens,
      cacheReadTokens: this.used.cacheReadTokens + usage.cacheReadTokens,
      reasoningTokens: this.used.reasoningTokens + usage.reasoningTokens,
      costUsd: usage.costUsd === null ? this.used.costUsd : (this.used.costUsd ?? 0) + usage.costUsd,
    };
  }
}

/** What the answer itself says it costs; else what it comes to at the price that its gateway counts by. */
function withCost(usage: CompletionUsage, header: string | null): CompletionUsage {
  const price = usage.costUsd === null ? priceSaid(header) : null;
  return price === null
    ? usage
    : { ...usage, costUsd: costUsd(price, { ...usage, cachedTokens: usage.cacheReadTokens }) };
}

/** A stream of chunks, or (from servers that do not stream) one whole completion. */
async function assemble(
  body: AsyncIterable<Uint8Array>,
  contentType: string,
  options: CompletionOptions,
): Promise<Completion> {
  const assembler = new CompletionAssembler(`resp_${randomUUID()}`, options.onDelta ?? (() => {}));
  const inStream = (error: Record<string, unknown>): SlipwayError =>
    modelErrorOf(Number(error['status'] ?? 0) || 0, error);
  if (contentType.includes('application/json')) {
    assembler.add(parse(await readUpTo(body, MAX_WHOLE_BYTES)), inStream);
    return assembler.finish(true);
  }
  let ended = false;
  for await (const data of readServerSentEvents(body)) {
    if (data === '[DONE]') {
      ended = true;
      break;
    }
    assembler.add(parse(data), inStream);
    if (assembler.isFull) break;
  }
  return assembler.finish(ended);
}
/** Largest completion that was not streamed. Bytes. */
const MAX_WHOLE_BYTES = 16 * 1024 * 1024;

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new SlipwayError('model.bad-response', 'The model sent something that is not JSON.', {
      cause: error,
      internal: `not JSON: ${text.slice(0, 200)}`,
    });
  }
}

/**
 * The provider's error object, in whichever of the usual places it stands: `{error: {…}}`, a problem document, or plain
 * text.
 */
function errorFields(text: string): { message?: unknown; code?: unknown; type?: unknown } {
  let body: Record<string, unknown> | null = null;
  try {
    body = asRecord(JSON.parse(text));
  } catch {
    return { message: /^\s*</.test(text) ? '' : text.trim() };
  }
  const inner = asRecord(body?.['error']);
  if (inner !== null) return inner;
  return { message: body?.['detail'] ?? body?.['message'] ?? body?.['error'], code: body?.['code'] };
}

async function readUpTo(body: AsyncIterable<Uint8Array>, limit: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > limit) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}

async function* touching(body: AsyncIterable<Uint8Array>, touch: () => void): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    touch();
    yield chunk;
  }
}

async function* emptyBody(): AsyncGenerator<Uint8Array> {}
