import type { ServerResponse } from 'node:http';
import { estimateCount, openCountTokens } from '../dialects/count-tokens.js';
import type { Asked } from '../dialects/exchange.js';
import type { Deployment } from '../routing/deployment.js';
import type { Dispatchers } from '../routing/dispatchers.js';
import { refusalOf } from './upstream-failure.js';

/** Longest wait for a provider that counts; then our guess is better than none. Milliseconds. */
const COUNT_MS = 5_000;
/** The request is at fault: another count would not help. */
const REFUSED = new Set([400, 413, 422]);

/**
 * Answers how many tokens a request has: by the provider where it counts for nothing, else by our own guess, which says so in a header. Costs nothing and is not in the ledger.
 * @param deployment `null`: the demo model. @throws SlipwayError what the provider says is wrong with the request.
 */
export async function countTokens(
  dispatchers: Dispatchers,
  asked: Asked,
  deployment: Deployment | null,
  response: ServerResponse,
  requestId: string,
  shutdown: AbortSignal,
): Promise<void> {
  const counted = deployment === null ? null : await askProvider(dispatchers, asked, deployment, shutdown);
  const { body, headers } = counted === null ? estimateCount(asked.body) : { body: counted, headers: {} };
  response.writeHead(200, { 'x-request-id': requestId, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...headers });
  response.end(body);
}

async function askProvider(dispatchers: Dispatchers, asked: Asked, deployment: Deployment, shutdown: AbortSignal): Promise<string | null> {
  const exchange = openCountTokens(asked, deployment.target);
  if (exchange === null) return null;
  const { origin, path, method, headers, body } = exchange;
  try {
    const dispatcher = dispatchers.for(origin, deployment.settings.guarded);
    const answer = await dispatcher.request({ origin, path, method, headers, body, signal: AbortSignal.any([shutdown, AbortSignal.timeout(COUNT_MS)]) });
    const text = await answer.body.text();
    if (answer.statusCode === 200) return text;
    if (!REFUSED.has(answer.statusCode)) return null;
    throw new Refused(answer.statusCode, text);
  } catch (error) {
    if (error instanceof Refused) throw refusalOf(deployment.target, { status: error.status, headers: {}, body: error.body });
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
