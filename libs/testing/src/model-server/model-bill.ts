import type { ModelFault, ModelRequest, ModelTurn, ScriptedAnswer } from './model-script.js';
import { type ModelServer, startModelServer } from './model-server.js';

/** USD for a million tokens. */
interface BilledPrices {
  readonly input: number;
  readonly cachedInput: number;
  /** As input when absent. */
  readonly cacheWrite?: number;
  readonly output: number;
}

export interface BilledModel extends BilledPrices {
  /** Prompts longer than this many tokens cost this, the whole call. */
  readonly long?: BilledPrices & { readonly above: number };
  /** What `service_tier` multiplies the call by; 1 when absent. */
  readonly serviceTiers?: Readonly<Record<string, number>>;
  /** The one name of the limit that it knows in chat; absent: it takes any. */
  readonly chatLimit?: string;
  /** USD for each search of the provider's own tool. */
  readonly search?: number;
  /** USD for each count of tokens; absent: the provider does not count. */
  readonly count?: number;
}

/** What the provider does for a call, whether or not the caller hears of it. Tokens. */
export interface Work {
  /** A quarter of the request's bytes when absent. */
  readonly promptTokens?: number;
  readonly cachedTokens?: number;
  readonly writtenTokens?: number;
  /** Not shown, and billed as output. */
  readonly hiddenTokens?: number;
  /** Of the text for one token. 4 when absent; 1 is a dense script. UTF-16 code units. */
  readonly charactersPerToken?: number;
  /** Done when the request offers a tool for it, up to the limit that it has for them. */
  readonly searches?: number;
  /** Read again after each search, with what it found. */
  readonly searchTokens?: number;
}

export type BilledTurn = ModelTurn & { readonly work?: Work };

export interface BilledCall {
  readonly path: string;
  readonly model: string;
  readonly promptTokens: number;
  /** Of all choices, hidden reasoning included. */
  readonly outputTokens: number;
  /** Output limit for one choice as the request said it; `null`: none. */
  readonly limit: number | null;
  readonly usd: number;
}

export interface BillingServer extends ModelServer {
  /** What the provider wants to be paid so far. A call is on it when its work began: no abort takes it off. */
  bill(): { readonly usd: number; readonly calls: readonly BilledCall[] };
}

export interface BillingServerOptions {
  readonly models: Readonly<Record<string, BilledModel>>;
  readonly script: (request: ModelRequest) => BilledTurn | Promise<BilledTurn>;
  readonly apiKey?: string;
}

/** Refused before any work: nothing is billed. */
const FREE_STATUSES: ReadonlySet<number> = new Set([400, 401, 402, 403, 404, 413, 422, 429, 503, 529]);
/** What every count says. */
const COUNTED_TOKENS = 42;
/** Tokens of a fault that says no text. */
const FAULTY_TOKENS = 1_000;

/**
 * A model provider that bills like the real ones: all that it was going to generate up to the output limit that it was
 * sent (hidden reasoning first), times `n`, at the price of the service tier, with a fee for each search; also for
 * calls that were aborted, cut or ended with a 5xx after the work. An answer is cut at its limit.
 */
export async function startBillingServer(options: BillingServerOptions): Promise<BillingServer> {
  const calls: BilledCall[] = [];
  const counted = (body: ModelRequest['body']): number => {
    const model = body.model ?? '';
    calls.push({
      path: '/v1/messages/count_tokens',
      model,
      promptTokens: 0,
      outputTokens: 0,
      limit: null,
      usd: options.models[model]?.count ?? 0,
    });
    return COUNTED_TOKENS;
  };
  const server = await startModelServer({
    ...(Object.values(options.models).some(({ count }) => count !== undefined) ? { counted } : {}),
    ...(options.apiKey === undefined ? {} : { apiKey: options.apiKey }),
    script: async (request) => {
      const turn = await options.script(request);
      const free = 'fault' in turn && turn.fault === 'status' && FREE_STATUSES.has(turn.status);
      if (free) return turn;
      const model = options.models[request.body.model ?? ''];
      if (model === undefined) return { fault: 'status', status: 404, message: `no price for ${request.body.model}` };
      const { call, answer } = billed(request, turn, model);
      calls.push(call);
      return answer;
    },
  });
  return {
    ...server,
    requests: server.requests,
    bill: () => ({ usd: calls.reduce((sum, { usd }) => sum + usd, 0), calls: [...calls] }),
  };
}

function billed(request: ModelRequest, turn: BilledTurn, model: BilledModel): { call: BilledCall; answer: ModelTurn } {
  const { body } = request;
  const { hiddenTokens = 0, charactersPerToken = 4, searches = 0, searchTokens = 0, ...work } = turn.work ?? {};
  const limit = limitOf(body, request.path.endsWith('/chat/completions') ? model.chatLimit : undefined);
  const choices = typeof body['n'] === 'number' ? body['n'] : 1;
  const searched = offersSearch(body) ? Math.min(searches, searchLimitOf(body)) : 0;
  const promptTokens = (work.promptTokens ?? Math.ceil(request.raw.length / 4)) + searched * searchTokens;
  const cached = Math.min(work.cachedTokens ?? 0, promptTokens);
  const written = Math.min(work.writtenTokens ?? 0, promptTokens - cached);
  const text = 'fault' in turn ? undefined : turn.text;
  const wanted = 'fault' in turn ? faultTokens(turn, charactersPerToken) : tokensOf(turn, charactersPerToken);
  const outputTokens = Math.min(hiddenTokens + wanted, limit ?? Number.POSITIVE_INFINITY);
  const price = model.long !== undefined && promptTokens > model.long.above ? model.long : model;
  const tokens =
    (promptTokens - cached - written) * price.input +
    cached * price.cachedInput +
    written * (price.cacheWrite ?? price.input) +
    outputTokens * choices * price.output;
  const tier = model.serviceTiers?.[String(body['service_tier'])] ?? 1;
  const call = {
    path: request.path,
    model: body.model ?? '',
    promptTokens,
    outputTokens: outputTokens * choices,
    limit,
    usd: (tokens * tier) / 1_000_000 + searched * (model.search ?? 0),
  };
  if ('fault' in turn) return { call, answer: turn };
  const cut = outputTokens < hiddenTokens + wanted;
  const usage = {
    prompt_tokens: promptTokens,
    completion_tokens: outputTokens * choices,
    total_tokens: promptTokens + outputTokens * choices,
    prompt_tokens_details: { cached_tokens: cached, cache_creation_tokens: written },
    web_searches: searched,
  };
  const said =
    cut && text !== undefined ? text.slice(0, Math.max(0, outputTokens - hiddenTokens) * charactersPerToken) : text;
  return {
    call,
    answer: {
      ...turn,
      ...(said === undefined ? {} : { text: said }),
      ...(cut ? { finishReason: request.path.endsWith('/messages') ? 'max_tokens' : 'length' } : {}),
      usage: turn.usage === null ? null : usage,
    },
  };
}

/** The limits of the three wire formats; the smallest counts where there are two. */
function limitOf(body: ModelRequest['body'], known: string | undefined): number | null {
  const names = known === undefined ? ['max_tokens', 'max_completion_tokens', 'max_output_tokens'] : [known];
  const limits = names.flatMap((name) => (typeof body[name] === 'number' ? [body[name]] : []));
  return limits.length === 0 ? null : Math.min(...limits);
}

function tokensOf(answer: ScriptedAnswer, perToken: number): number {
  const characters =
    (answer.text ?? '').length +
    (answer.reasoning ?? '').length +
    (answer.toolCalls === undefined ? 0 : JSON.stringify(answer.toolCalls).length);
  return Math.ceil(characters / perToken);
}

function faultTokens(fault: ModelFault, perToken: number): number {
  return 'text' in fault && fault.text !== undefined
    ? Math.max(FAULTY_TOKENS, Math.ceil(fault.text.length / perToken))
    : FAULTY_TOKENS;
}

/** As the APIs that have one write it. */
function searchLimitOf(body: ModelRequest['body']): number {
  const uses = Array.isArray(body['tools'])
    ? (body['tools'] as { max_uses?: unknown }[]).map(({ max_uses: most }) => most)
    : [];
  return Math.min(...[body['max_tool_calls'], ...uses].flatMap((limit) => (typeof limit === 'number' ? [limit] : [])));
}

function offersSearch(body: ModelRequest['body']): boolean {
  const tools = Array.isArray(body['tools']) ? (body['tools'] as { type?: unknown }[]) : [];
  return (
    body['web_search_options'] !== undefined ||
    tools.some(({ type }) => typeof type === 'string' && type.startsWith('web_search'))
  );
}
