import type { Dialect } from './dialect.js';
import type { Asked, Exchange, Target } from './exchange.js';

/** Target of a call and its authentication. `spoken` is the dialect of the call as it is sent. */
export type Address = (spoken: Dialect, asked: Asked, target: Target) => Pick<Exchange, 'origin' | 'path' | 'headers'>;

const PATHS: Readonly<Record<Dialect, string>> = {
  chat: '/chat/completions',
  responses: '/responses',
  messages: '/messages',
  embeddings: '/embeddings',
};
/** The version of Anthropic's API that the translators speak. */
const ANTHROPIC_VERSION = '2023-06-01';

/** An address below the target's own. `new URL` costs more than all else here, and a process knows few targets. */
const parsed = new Map<string, { readonly origin: string; readonly path: string }>();
/** More than any install has; a list that grew beyond it would be a leak. */
const MAX_PARSED = 10_000;

export function below(baseUrl: string, path: string): { readonly origin: string; readonly path: string } {
  const whole = baseUrl + path;
  const known = parsed.get(whole);
  if (known !== undefined) return known;
  const url = new URL(whole);
  const address = { origin: url.origin, path: url.pathname + url.search };
  if (parsed.size >= MAX_PARSED) parsed.clear();
  parsed.set(whole, address);
  return address;
}

/** What every call carries. */
export function plainHeaders(asked: Pick<Asked, 'stream' | 'trace'>): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: asked.stream ? 'text/event-stream' : 'application/json',
    'user-agent': 'slipway-llm-gateway',
    ...asked.trace,
  };
}

/**
 * Headers of the caller's dialect, where the provider speaks that one; what a translated call needs of them is written
 * by us.
 */
export function dialectHeaders(
  spoken: Dialect,
  asked: Pick<Asked, 'dialect' | 'headers'>,
  target: Pick<Target, 'contextWindow'>,
): Record<string, string> {
  const own = spoken === asked.dialect ? asked.headers : {};
  const headers: Record<string, string> = {};
  if (spoken === 'messages') {
    headers['anthropic-version'] = own['anthropic-version'] ?? ANTHROPIC_VERSION;
    const betas = own['anthropic-beta'] === undefined ? '' : betasOf(own['anthropic-beta'], target);
    if (betas !== '') headers['anthropic-beta'] = betas;
  } else if (own['openai-beta'] !== undefined) headers['openai-beta'] = own['openai-beta'];
  return headers;
}

/** Betas that make a call dearer, keep something at the provider, or let it run tools. */
const COSTLY_BETAS =
  /^(fast-mode|files-api|mcp-client|code-execution|skills|web-fetch|web-search|advisor|compact|server-side|message-batches|managed-agents)/;
/** Of models whose longer context costs more; those that have it by themselves need no beta. Tokens. */
const USUAL_CONTEXT = 200_000;

/** A longer context is asked for only where the model is known to have it: its price is then known for that, too. */
function betasOf(header: string, { contextWindow }: Pick<Target, 'contextWindow'>): string {
  if (!header.includes('-')) return header;
  const long = contextWindow !== undefined && contextWindow > USUAL_CONTEXT;
  const betas = header.split(',');
  const kept = betas.filter(
    (beta) => !COSTLY_BETAS.test(beta.trim()) && (long || !beta.trim().startsWith('context-1m')),
  );
  return kept.length === betas.length ? header : kept.join(',');
}

/**
 * Any server that has OpenAI's paths. Those that speak messages too (LiteLLM, vLLM, DeepSeek) expect the key in one
 * header or the other.
 */
export const openAiAddress: Address = (spoken, asked, target) => ({
  ...below(target.baseUrl, PATHS[spoken]),
  headers: {
    ...plainHeaders(asked),
    ...dialectHeaders(spoken, asked, target),
    ...(target.apiKey === null
      ? {}
      : { authorization: `Bearer ${target.apiKey}`, ...(spoken === 'messages' ? { 'x-api-key': target.apiKey } : {}) }),
  },
});

/** Anthropic, whose chat (made for OpenAI's clients) wants the key as they send it. */
export const anthropicAddress: Address = (spoken, asked, target) => ({
  ...below(target.baseUrl, PATHS[spoken]),
  headers: {
    ...plainHeaders(asked),
    ...dialectHeaders(spoken, asked, target),
    ...(target.apiKey === null
      ? {}
      : spoken === 'messages'
        ? { 'x-api-key': target.apiKey }
        : { authorization: `Bearer ${target.apiKey}` }),
  },
});
