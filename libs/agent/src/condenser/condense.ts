import { SlipwayError } from '@slipway/errors';
import { stamp } from '../events.js';
import { callModel, contextWindowOf } from '../model-call.js';
import type { AgentPorts, RunSettings } from '../ports.js';
import { unitsOf } from '../prompt.js';
import { isSeenByModel } from './condensation.js';
import { planCondensation } from './plan.js';
import type { CondenserSettings } from './settings.js';
import { noteWithoutSummary, summaryRequest, summaryText } from './summary.js';
import { promptTokens, tokensOfMessages } from './tokens.js';

/**
 * Part of the context that a prompt may fill before it is condensed; the rest is for the answer and for what an
 * estimate misses.
 */
const FULL = 0.8;
/** Part of the context, and of the prompt, that stays as it is. */
const TAIL_OF_CONTEXT = 0.25;
const TAIL_OF_PROMPT = 0.3;
/** Less than this part of the prompt is not worth a condensation: the next step would want another. */
const WORTH = 0.1;
/** Prompt of the summarizer when its context is unknown. Tokens. */
const SUMMARY_PROMPT = 60_000;
/** A summary is worth fewer attempts than a step. */
const RETRIES = 2;

/** `everything`: no turn stays as it is, since an earlier condensation was not enough. */
export type CondensationReason = 'automatic' | 'asked' | 'too-long' | 'everything';

/**
 * Shortens what the model sees, as an event in the log: a later run reads the same. A summary that cannot be made is
 * replaced by a note, so that the work goes on.
 * @returns false when there is nothing to shorten.
 * @throws `budget.exhausted`, what the log rejects with, or the signal's reason; the view is then as it was.
 */
export async function condense(
  ports: AgentPorts,
  settings: RunSettings,
  reason: CondensationReason,
  signal: AbortSignal,
): Promise<boolean> {
  const { events } = ports.log;
  const units = unitsOf(events);
  const size = tokensOfMessages(units.flatMap(({ messages }) => messages));
  const window = contextWindowOf(ports.models('agent'));
  const tail =
    reason === 'everything'
      ? 0
      : Math.min(size * TAIL_OF_PROMPT, (window ?? Number.POSITIVE_INFINITY) * TAIL_OF_CONTEXT);
  const plan = planCondensation(units, tail);
  if (plan === null || (reason === 'automatic' && plan.tokens < size * WORTH)) return false;
  const readable = contextWindowOf(ports.models('condenser'));
  const request = summaryRequest(plan, Math.min(SUMMARY_PROMPT, readable === null ? size / 2 : readable / 2));
  let summary: string;
  let responseId = '';
  try {
    const completion = await callModel(ports, {
      usage: 'condenser',
      request,
      retries: Math.min(RETRIES, settings.modelRetries),
      signal,
    });
    responseId = completion.id;
    summary =
      completion.content.trim() === ''
        ? noteWithoutSummary(plan, 'the model answered with nothing.', events)
        : summaryText(completion.content, events);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof SlipwayError) || !isOfModel(error)) throw error;
    ports.onRetry({ code: error.code, detail: `summary: ${error.detail}`, attempt: 0, waitMs: 0 });
    summary = noteWithoutSummary(plan, error.detail, events);
  }
  const forgotten = plan.units.flatMap(({ eventIds }) => eventIds);
  await ports.log.append([
    stamp(ports, {
      kind: 'Condensation',
      source: 'environment',
      forgotten_event_ids: forgotten,
      summary,
      summary_offset: plan.offset,
      llm_response_id: responseId,
    }),
  ]);
  return true;
}

/**
 * As `condense`, for a request in the log. It is answered, with nothing forgotten, also when there is nothing to
 * shorten or it is stopped.
 */
export async function condenseAsAsked(ports: AgentPorts, settings: RunSettings, signal: AbortSignal): Promise<boolean> {
  const nothing = stamp(ports, {
    kind: 'Condensation',
    source: 'environment',
    forgotten_event_ids: [],
    summary: null,
    summary_offset: null,
    llm_response_id: '',
  });
  try {
    if (await condense(ports, settings, 'asked', signal)) return true;
  } catch (error) {
    if (signal.aborted) await ports.log.appendLast([nothing]);
    throw error;
  }
  await ports.log.append([nothing]);
  return false;
}

/** Is it time, by the length of the next prompt or the number of events? */
export function isFull(ports: AgentPorts, settings: CondenserSettings): boolean {
  if (!settings.automatic) return false;
  const { events } = ports.log;
  const units = unitsOf(events);
  const limit = settings.maxTokens ?? (contextWindowOf(ports.models('agent')) ?? Number.POSITIVE_INFINITY) * FULL;
  if (Number.isFinite(limit)) {
    const request = { messages: units.flatMap(({ messages }) => messages), tools: ports.toolbox.definitions };
    if (promptTokens(events, request) >= limit) return true;
  }
  if (settings.maxEvents === null) return false;
  const seen = units.reduce((sum, { eventIds }) => sum + eventIds.length, 0);
  return (
    seen > settings.maxEvents &&
    events.slice(events.findLastIndex(({ kind }) => kind === 'Condensation') + 1).filter(isSeenByModel).length >
      settings.maxEvents / 2
  );
}

/** The model, not the log, the disk or the budget. */
function isOfModel({ code }: SlipwayError): boolean {
  return (
    code.startsWith('model.') ||
    code === 'request.invalid' ||
    code === 'rate.limited' ||
    code === 'service.unavailable' ||
    code === 'auth.missing'
  );
}
