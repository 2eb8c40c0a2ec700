import type { ServerResponse } from 'node:http';
import { SlipwayError } from '@slipway/errors';
import type { Claim } from '../budgets/admission.js';
import type { Deployment } from '../routing/deployment.js';
import type { Dispatchers } from '../routing/dispatchers.js';
import { estimateCount, openCountTokens } from '../wire/count-tokens.js';
import type { Asked } from '../wire/exchange.js';
import type { Call } from './call.js';
import { refusalOf } from './upstream-failure.js';
import { NO_USAGE } from './usage.js';

/** Longest wait for a provider that counts; then our guess is better than none. Milliseconds. */
const COUNT_MS = 5_000;
/** The request is at fault: another count would not help. */
const REFUSED = new Set([400, 413, 422]);

export interface CountRequest {
  readonly call: Call;
  readonly asked: Asked;
  readonly deployment: Deployment | null;
  readonly response: ServerResponse;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Answers how many tokens a request has: by the provider where it counts, else by our own estimate, marked in a header.
 * It is one row of the ledger, whatever its end: at the price that its deployment has for a count, which is 0 unless
 * the file of models says otherwise. A request counts as a call, since it may have been charged.
 * @param deployment `null`: the demo model. @throws SlipwayError the provider's refusal of the request;
 * `service.unavailable` when the call cannot be recorded.
 */
export async function countTokens(
  { dispatchers, shutdown }: { readonly dispatchers: Dispatchers; readonly shutdown: AbortSignal },
  { call, asked, deployment, response, headers }: CountRequest,
): Promise<void> {
  const exchange = deployment === null ? null : openCountTokens(asked, deployment.target);
  const sent = deployment !== null && exchange !== null;
  const usd = sent ? countUsd(deployment) : 0;
  try {
    if (sent) {
      if (usd > 0) await call.record(countClaim(call.identity.model, deployment), deployment);
      call.asks(deployment);
    }
    const counted = sent ? await askProvider(dispatchers, exchange, deployment, shutdown) : null;
    const guess = counted === null ? estimateCount(asked.body) : { body: counted, headers: {} };
    const { requestId } = call.identity;
    const length = Buffer.byteLength(guess.body);
    response.writeHead(200, {
      'x-request-id': requestId,
      'content-type': 'application/json',
      'content-length': length,
      ...headers,
      ...guess.headers,
    });
    response.end(guess.body);
    call.settle({ status: 'ok', usage: NO_USAGE, source: 'none', costUsd: usd });
  } catch (error) {
    const code = error instanceof SlipwayError ? error.code : 'internal.unexpected';
    // Refused for what it says, or never sent.
    call.settle({ status: 'failed', code, usage: NO_USAGE, source: 'none', costUsd: 0 });
    throw error;
  }
}

/** What is held for a count. */
export function countClaim(model: string, deployment: Deployment | null): Claim {
  const usd = deployment === null ? 0 : countUsd(deployment);
  return { model, maxCostUsd: usd, promptTokens: 0, maxTokens: 0 };
}

function countUsd({ price }: Deployment): number {
  return (price?.perThousand?.countTokens ?? 0) / 1_000;
}

async function askProvider(
  dispatchers: Dispatchers,
  exchange: NonNullable<ReturnType<typeof openCountTokens>>,
  deployment: Deployment,
  shutdown: AbortSignal,
): Promise<string | null> {
  const { origin, path, method, headers, body } = exchange;
  try {
    const dispatcher = dispatchers.for(origin, deployment.settings.guarded);
    const answer = await dispatcher.request({
      origin,
      path,
      method,
      headers,
      body,
      signal: AbortSignal.any([shutdown, AbortSignal.timeout(COUNT_MS)]),
    });
    const text = await answer.body.text();
    if (answer.statusCode === 200) return text;
    if (!REFUSED.has(answer.statusCode)) return null;
    throw new Refused(answer.statusCode, text);
  } catch (error) {
    if (error instanceof Refused)
      throw refusalOf(deployment.target, { status: error.status, headers: {}, body: error.body });
    return null;
  }
}

class Refused extends Error {
  constructor(
    readonly status: number,
    readonly body: string,
  ) {
    super('refused');
  }
}
