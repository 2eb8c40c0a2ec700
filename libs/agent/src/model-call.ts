import { type Completion, type CompletionRequest, factsOf, type LlmUsage } from '@slipway/llm';
import { stampUpdate } from './events.js';
import type { AgentPorts, ModelPort } from './ports.js';
import { ResponseIds, recentIds } from './response-ids.js';
import { withRetries } from './retries.js';

export interface ModelCall {
  readonly usage: LlmUsage;
  /** What its cost is counted under, when that is more than the usage says. */
  readonly usageId?: string;
  readonly request: CompletionRequest;
  /** How often a failed attempt is repeated. */
  readonly retries: number;
  readonly signal: AbortSignal;
  /** Its text is shown while it comes. */
  readonly shown?: boolean;
}

/**
 * Asks a model, again where a failure may pass, and writes what it cost into the log before anything else is done with
 * the answer.
 * @throws the last failure (`model.*`, `budget.exhausted`), what the log rejects with, or the signal's reason.
 */
export async function callModel(ports: AgentPorts, call: ModelCall): Promise<Completion> {
  const model = ports.models(call.usage);
  const { signal } = call;
  let started = 0;
  const ids = call.shown === true ? new ResponseIds(recentIds(ports.log.events)) : null;
  const attempt = async (): Promise<Completion> => {
    started = performance.now();
    const traceparent = ports.traceparent();
    if (ids === null) return model.complete(call.request, { signal, traceparent });
    const own = ids.attempt();
    return own.completion(
      await model.complete(call.request, { signal, traceparent, onDelta: (delta) => ports.onDelta(own.delta(delta)) }),
    );
  };
  // Read before the call: a switch of the model holds from the next one on.
  const { model: name } = model.config;
  const notices: Array<Promise<unknown>> = [];
  const onRetry: AgentPorts['onRetry'] = (failure) => {
    ports.onRetry(failure);
    const { waitMs: wait_ms, ...rest } = failure;
    notices.push(ports.log.append([stampUpdate(ports, { key: 'llm_retry', value: { ...rest, wait_ms } })]));
  };
  // A silent wait looks like a hang: the log gives the reason first.
  const delay: AgentPorts['delay'] = async (ms, ending) => {
    await Promise.all(notices.splice(0));
    await ports.delay(ms, ending);
  };
  const completion = await withRetries(
    attempt,
    { retries: call.retries, random: ports.random, delay, onRetry },
    signal,
  );
  const value = ports.stats.add({
    usageId: call.usageId ?? call.usage,
    model: name,
    completion,
    cost: completion.usage.costUsd ?? ports.costOf(name, completion.usage),
    latencyMs: performance.now() - started,
    at: ports.clock.now(),
    contextWindow: contextWindowOf(model),
  });
  await ports.log.append([stampUpdate(ports, { key: 'stats', value })]);
  return completion;
}

/** Prompt and answer together, in tokens; `null` when unknown. */
export function contextWindowOf(model: ModelPort): number | null {
  return model.config.contextWindow ?? factsOf(model.config.model)?.contextWindow ?? null;
}
