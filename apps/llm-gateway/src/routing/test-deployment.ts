import type { GatewayDeploymentTest } from '@slipway/contracts/models';
import { SlipwayError } from '@slipway/errors';
import { traceHeaders } from '@slipway/telemetry';
import { brokenOf, inStreamErrorOf, refusalOf } from '../calls/upstream-failure.js';
import type { Asked } from '../wire/exchange.js';
import { openExchange } from '../wire/open-exchange.js';
import { readRoutingFields } from '../wire/routing-fields.js';
import type { Deployment } from './deployment.js';
import type { Dispatchers } from './dispatchers.js';
import { RateAllowance } from './rate-allowance.js';

/** Longest wait for its answer. Milliseconds. */
const TEST_MS = 30_000;

/** Of one deployment in a minute by this replica: each costs its owner money. */
const TESTS_PER_MINUTE = 6;

/** Tests of deployments on demand. */
export class DeploymentTests {
  private readonly allowances = new Map<string, RateAllowance>();
  private readonly running = new Map<string, Promise<GatewayDeploymentTest>>();

  constructor(private readonly dispatchers: Dispatchers) {}

  /**
   * Who asks while a test of it is under way gets the answer of that one. @param now milliseconds. @throws SlipwayError
   * `rate.limited`.
   */
  run(deployment: Deployment, now: number): Promise<GatewayDeploymentTest> {
    const { id } = deployment;
    const running = this.running.get(id);
    if (running !== undefined) return running;
    const allowance = this.allowances.get(id) ?? new RateAllowance(TESTS_PER_MINUTE);
    this.allowances.set(id, allowance);
    if (!allowance.allows(1, now))
      throw new SlipwayError('rate.limited', `It was tested ${TESTS_PER_MINUTE} times in the last minute.`, {
        retryAfterSeconds: 60 / TESTS_PER_MINUTE,
      });
    allowance.take(1, now);
    const test = testDeployment(this.dispatchers, deployment).finally(() => this.running.delete(id));
    this.running.set(id, test);
    return test;
  }
}

/**
 * Asks a deployment for one word. Never throws: what is wrong is the answer. Its breaker is neither checked nor
 * updated.
 */
async function testDeployment(dispatchers: Dispatchers, deployment: Deployment): Promise<GatewayDeploymentTest> {
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
      trace: traceHeaders(),
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
    return {
      ok: true,
      elapsed_ms: elapsed(),
      prompt_tokens: answer.usage?.promptTokens ?? null,
      completion_tokens: answer.usage?.completionTokens ?? null,
    };
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
