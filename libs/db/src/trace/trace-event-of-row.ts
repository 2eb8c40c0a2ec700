import { MAX_SPAN_NAME, StartStep } from '@slipway/contracts/conversations';
import { CallMetrics, EXECUTION_STATUSES } from '@slipway/contracts/events';
import { type TraceEvent, type TraceUpdate, usdOf } from '@slipway/domain/trace';
import { z } from 'zod';
import type { TraceRow } from './trace.queries.js';

/**
 * An event as a trace takes it; `null` for one without a time. What a sandbox wrote is never trusted to have its shape.
 */
export function traceEventOf(row: TraceRow): TraceEvent | null {
  const at = timeOf(row.at);
  if (at === null) return null;
  const own = {
    ...{ seq: Number(row.seq), epoch: row.epoch, id: row.event_id, kind: row.kind, at },
    ...(row.from_sandbox ? { storedAfterMs: row.stored_at.getTime() - at } : {}),
  };
  switch (row.kind) {
    case 'MessageEvent':
      if (row.source !== 'user') return null;
      return {
        ...own,
        message: { title: titleOf(row.title), sentAt: row.sent_at?.getTime() ?? null, traceId: row.trace_id },
      };
    case 'ConversationStateUpdateEvent': {
      const update = updateOf(row, at);
      return update === null ? null : { ...own, update };
    }
    default:
      return {
        ...own,
        ...(typeof row.tool === 'string' ? { tool: row.tool } : {}),
        ...(typeof row.tool_call_id === 'string' ? { toolCallId: row.tool_call_id } : {}),
        ...(typeof row.action_id === 'string' ? { actionId: row.action_id } : {}),
        ...(typeof row.code === 'string' ? { code: row.code } : {}),
        failed: row.failed === true,
      };
  }
}

const Answer = z.object({ accepted: z.boolean(), action_ids: z.array(z.string()) });
const Inner = z.object({
  task_id: z.string(),
  action_id: z.string(),
  subagent: z.string(),
  id: z.string(),
  kind: z.string(),
  timestamp: z.string(),
  tool_name: z.string().nullish().catch(null),
  tool_call_id: z.string().nullish().catch(null),
  inner_action_id: z.string().nullish().catch(null),
  is_error: z.boolean().nullish().catch(null),
});

function updateOf({ key, value }: TraceRow, at: number): TraceUpdate | null {
  switch (key) {
    case 'execution_status': {
      const status = EXECUTION_STATUSES.find((each) => each === value);
      return status === undefined ? null : { key, status };
    }
    case 'start_task': {
      const step = StartStep.safeParse(value).data;
      if (step === undefined) return null;
      const { attempt, status, state, elapsedMs, code } = step;
      return {
        key,
        step: {
          attempt,
          status,
          state,
          startedAt: timeOf(step.startedAt) ?? at,
          elapsedMs: elapsedMs ?? null,
          code: code ?? null,
        },
      };
    }
    case 'confirmation': {
      const answer = Answer.safeParse(value).data;
      return answer === undefined ? null : { key, accepted: answer.accepted, actionIds: answer.action_ids };
    }
    case 'stats': {
      const call = CallMetrics.safeParse(value).data;
      if (call === undefined) return null;
      const {
        prompt_tokens: prompt,
        completion_tokens: completion,
        cache_read_tokens: cached,
        model,
      } = call.token_usage;
      return {
        key,
        call: {
          model,
          usage: call.usage_id,
          latencyMs: Math.max(0, call.latency * 1_000),
          prompt: Math.max(0, prompt),
          completion: Math.max(0, completion),
          cached: Math.max(0, cached),
          cost: usdOf(call.cost),
        },
      };
    }
    case 'sub_agent': {
      const inner = Inner.safeParse(value).data;
      const time = timeOf(inner?.timestamp);
      if (inner === undefined || time === null) return null;
      return {
        key,
        task: inner.task_id,
        actionId: inner.action_id,
        agent: inner.subagent,
        inner: {
          id: inner.id,
          kind: inner.kind,
          at: time,
          ...(inner.tool_name == null ? {} : { tool: inner.tool_name }),
          ...(inner.tool_call_id == null ? {} : { toolCallId: inner.tool_call_id }),
          ...(inner.inner_action_id == null ? {} : { actionId: inner.inner_action_id }),
          failed: inner.is_error === true,
        },
      };
    }
    default:
      return null;
  }
}

function timeOf(text: unknown): number | null {
  const time = typeof text === 'string' ? Date.parse(text) : Number.NaN;
  return Number.isFinite(time) && time >= 0 ? time : null;
}

/** Longest escape of JSON, `\uXXXX`: a cut is at most so far behind a place where the string can end. Characters. */
const LONGEST_ESCAPE = 6;

/** First words out of the beginning of a JSON string, which may end in the midst of an escape. */
export function titleOf(json: string | null): string {
  if (json === null || !json.startsWith('"')) return '';
  const text =
    parsed(json) ??
    Array.from({ length: LONGEST_ESCAPE }, (_, back) => parsed(`${json.slice(0, json.length - back)}"`)).find(
      (each) => each !== null,
    );
  return (text ?? '')
    .replaceAll(/[\s\0]+/g, ' ')
    .trim()
    .slice(0, MAX_SPAN_NAME)
    .toWellFormed();
}

function parsed(json: string): string | null {
  try {
    return JSON.parse(json) as string;
  } catch {
    return null;
  }
}
