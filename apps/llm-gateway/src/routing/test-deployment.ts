import { SlipwayError } from '@slipway/errors';
import { makeTraceparent, traceIdOf } from '@slipway/telemetry';
import { brokenOf, inStreamErrorOf, refusalOf } from '../completions/upstream-failure.js';
import type { Asked } from '../dialects/exchange.js';
import { openExchange } from '../dialects/open-exchange.js';
import { readRoutingFields } from '../dialects/routing-fields.js';
import type { Deployment } from './deployment.js';
import type { Dispatchers } from './dispatchers.js';

/** Longest wait for its answer. Milliseconds. */
const TEST_MS = 30_000;

export type DeploymentTest =
  | { readonly ok: true; readonly elapsed_ms: number; readonly prompt_tokens: number | null; readonly completion_tokens: number | null }
  | { readonly ok: false; readonly elapsed_ms: number; readonly code: string; readonly detail: string };

/** Asks a deployment for one word. Never throws: what is wrong is the answer. Its breaker is not asked and not told. */
export async function testDeployment(dispatchers: Dispatchers, deployment: Deployment): Promise<DeploymentTest> {
  const { target, settings } = deployment;
  const began = performance.now();
  const elapsed = (): number => Math.round(performance.now() - began);
  const embeds = target.speaks.length === 1 && target.speaks[0] === 'embeddings';
  const request = embeds
    ? { model: target.model, input: 'ping' }
    : { model: target.model, messages: [{ role: 'user', content: 'Answer with the word pong.' }], max_tokens: 16 };
  const body = Buffer.from(JSON.stringify(request));
  const dialect = embeds ? 'embeddings' : 'chat';
  try {
    const asked: Asked = {
      dialect,
      body,
      fields: readRoutingFields(body, dialect),
      stream: false,
      headers: {},
      traceparent: makeTraceparent(traceIdOf(undefined)),
    };
    const { origin, path, method, headers, body: sent, answer } = openExchange(asked, target);
    const response = await dispatchers
      .for(origin, settings.guarded)
      .request({ origin, path, method, headers, body: sent, signal: AbortSignal.timeout(TEST_MS) });
    const received = Buffer.from(await response.body.arrayBuffer());
    if (response.statusCode !== 200)
      throw refusalOf(target, {
        status: response.statusCode,
        headers: response.headers as Record<string, string | undefined>,
        body: received.toString('utf8'),
      });
    try {
      answer.whole(received);
    } catch (error) {
      throw answer.error === null ? error : inStreamErrorOf(answer.error, target.apiKey);
    }
    return { ok: true, elapsed_ms: elapsed(), prompt_tokens: answer.usage?.promptTokens ?? null, completion_tokens: answer.usage?.completionTokens ?? null };
  } catch (error) {
    const late = (error as Error).name === 'TimeoutError';
    const known =
      error instanceof SlipwayError
        ? error
        : late
          ? new SlipwayError('model.timeout', 'The model did not answer in half a minute.')
          : brokenOf(error as Error, false);
    return { ok: false, elapsed_ms: elapsed(), code: known.code, detail: known.detail };
  }
}
