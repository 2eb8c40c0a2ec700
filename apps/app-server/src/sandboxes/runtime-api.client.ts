import { setTimeout as wait } from 'node:timers/promises';
import { ERROR_CODES, Problem } from '@slipway/contracts/errors';
import { BRIEF_SESSION_PREFIX, ORG_HEADER, Runtime, RuntimeFleet, RuntimeQueue } from '@slipway/contracts/sandboxes';
import { SlipwayError } from '@slipway/errors';
import { traceHeaders } from '@slipway/telemetry';
import type { z } from 'zod';

/** Longest wait: a user waits at a screen. Milliseconds. */
const TIMEOUT_MS = 3_000;
/**
 * How long runtime-api may wait for a sandbox before it answers that there is none, and how long it may take for its
 * answer then. Seconds, milliseconds.
 */
const QUEUE_SECONDS = 10;
const START_MS = 25_000;
/** Poll interval of a starting sandbox. Milliseconds. */
const POLL_MS = 300;

/** One organization's sandboxes as runtime-api lists them. Every failure rejects: the caller shows its own data. */
export class RuntimeApiClient {
  constructor(private readonly options: { readonly url: string; readonly apiKey: string }) {}

  fleet(orgId: string): Promise<RuntimeFleet> {
    return this.json('fleet', orgId, RuntimeFleet);
  }

  queue(orgId: string): Promise<RuntimeQueue> {
    return this.json('queue', orgId, RuntimeQueue);
  }

  /**
   * A sandbox for a while, without a conversation. It is released when `work` has ended, however that ended.
   * @param name of what it is for, unlike any other. @param signal bounds its start; `work` bounds itself, within
   * `BRIEF_SESSION_SECONDS`.
   * @throws SlipwayError `sandbox.no-capacity`, `sandbox.quota`, `sandbox.start-failed`, `service.unavailable`; what
   * `work` throws.
   */
  async borrow<T>(
    orgId: string,
    name: string,
    signal: AbortSignal,
    work: (runtime: Runtime) => Promise<T>,
  ): Promise<T> {
    const sessionId = `${BRIEF_SESSION_PREFIX}${name}`;
    try {
      return await work(await this.running(orgId, sessionId, signal));
    } finally {
      // Asked for by its session: a start whose answer was lost may have made one all the same. What is not given back
      // now, runtime-api ends later.
      await this.giveBack(orgId, sessionId).catch(() => {});
    }
  }

  private async running(orgId: string, sessionId: string, signal: AbortSignal): Promise<Runtime> {
    try {
      const body = { session_id: sessionId };
      let runtime = await this.json('start', orgId, Runtime, {
        method: 'POST',
        body,
        signal,
        withinMs: START_MS,
        headers: { prefer: `wait=${QUEUE_SECONDS}` },
      });
      while (runtime.status === 'starting') {
        await wait(POLL_MS, undefined, { signal });
        runtime = await this.json(`sessions/${encodeURIComponent(sessionId)}`, orgId, Runtime, { signal });
      }
      if (runtime.status !== 'running')
        throw new SlipwayError('sandbox.start-failed', runtime.status_detail ?? 'The sandbox did not start.');
      return runtime;
    } catch (error) {
      if (error instanceof SlipwayError) throw error;
      if (signal.aborted)
        throw new SlipwayError('sandbox.start-failed', 'The sandbox was not ready in time.', { cause: error });
      throw new SlipwayError('service.unavailable', 'The service that runs sandboxes does not answer.', {
        cause: error,
        retryAfterSeconds: 3,
      });
    }
  }

  private async giveBack(orgId: string, sessionId: string): Promise<void> {
    const { runtime_id } = await this.json(`sessions/${encodeURIComponent(sessionId)}`, orgId, Runtime);
    await (await this.call('stop', orgId, { method: 'POST', body: { runtime_id }, withinMs: START_MS })).body?.cancel();
  }

  private async json<T extends z.ZodType>(
    path: string,
    orgId: string,
    schema: T,
    call: Call = {},
  ): Promise<z.output<T>> {
    const response = await this.call(path, orgId, call);
    if (response.ok) return schema.parse(await response.json());
    const problem = Problem.safeParse(await response.json().catch(() => null));
    throw sandboxProblem(problem.data) ?? new Error(`runtime-api answered ${response.status}`);
  }

  private call(
    path: string,
    orgId: string,
    { method = 'GET', body, signal, withinMs = TIMEOUT_MS, headers = {} }: Call,
  ): Promise<Response> {
    const limit = AbortSignal.timeout(withinMs);
    return fetch(new URL(path, `${this.options.url.replace(/\/+$/, '')}/`), {
      method,
      headers: {
        'x-api-key': this.options.apiKey,
        [ORG_HEADER]: orgId,
        ...traceHeaders(),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
    });
  }
}

interface Call {
  readonly method?: 'GET' | 'POST';
  readonly body?: object;
  readonly signal?: AbortSignal;
  readonly withinMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * What runtime-api says about sandboxes, in its words; whatever else keeps one from starting is `sandbox.start-failed`.
 */
function sandboxProblem(problem: Problem | undefined): SlipwayError | null {
  const code = ERROR_CODES.find((known) => known === problem?.code);
  if (problem === undefined || code === undefined || !code.startsWith('sandbox.')) return null;
  const isRoom = code === 'sandbox.no-capacity' || code === 'sandbox.quota';
  return new SlipwayError(isRoom ? code : 'sandbox.start-failed', problem.detail);
}
