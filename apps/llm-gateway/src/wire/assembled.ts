import type { Usage } from '../calls/usage.js';
import type { AnswerEvent, FinishReason, RedactedPart, ThinkingPart, ToolCallPart } from './turns.js';

export type AnswerPart =
  | { readonly kind: 'text' | 'refusal'; text: string }
  | ThinkingPart
  | RedactedPart
  | ToolCallPart;

/** A whole answer. */
export interface Assembled {
  readonly id: string;
  readonly model: string;
  readonly created: number | null;
  readonly parts: readonly AnswerPart[];
  readonly usage: Usage | null;
  readonly reason: FinishReason;
  readonly stopSequence: string | null;
}

/** The pieces of an answer put together. A call stands where it began. */
export function assembled(events: readonly AnswerEvent[]): Assembled {
  const parts: AnswerPart[] = [];
  const pieces = new Map<AnswerPart, string[]>();
  const calls = new Map<number, AnswerPart>();
  const ended = new Set<AnswerPart>();
  let start = { id: '', model: '', created: null as number | null };
  let usage: Usage | null = null;
  let finish: { reason: FinishReason; stopSequence: string | null } = { reason: 'stop', stopSequence: null };
  const grow = (kind: 'text' | 'refusal' | 'thinking', text: string): void => {
    const last = parts.at(-1);
    const open = last?.kind === kind && !ended.has(last) ? last : undefined;
    if (open !== undefined) pieces.get(open)?.push(text);
    else {
      const part: AnswerPart = kind === 'thinking' ? { kind, text: '', signature: null } : { kind, text: '' };
      parts.push(part);
      pieces.set(part, [text]);
    }
  };
  for (const event of events) {
    switch (event.kind) {
      case 'start':
        start = { id: event.id, model: event.model, created: event.created ?? null };
        break;
      case 'text':
      case 'refusal':
      case 'thinking':
        grow(event.kind, event.text);
        break;
      case 'signature': {
        const last = parts.at(-1);
        if (last?.kind !== 'thinking' || ended.has(last)) grow('thinking', '');
        const part = parts.at(-1) as ThinkingPart;
        const signed: ThinkingPart = {
          ...part,
          signature: event.signature,
          ...(event.id === undefined ? {} : { id: event.id }),
        };
        parts[parts.length - 1] = signed;
        pieces.set(signed, pieces.get(part) ?? []);
        ended.add(signed);
        break;
      }
      case 'redacted':
        parts.push({ kind: 'redacted', data: event.data });
        break;
      case 'tool-begin': {
        const part: AnswerPart = {
          kind: 'tool-call',
          id: event.id,
          name: event.name,
          arguments: '',
          ...(event.signature === undefined ? {} : { signature: event.signature }),
        };
        parts.push(part);
        pieces.set(part, []);
        calls.set(event.call, part);
        break;
      }
      case 'tool-arguments': {
        const call = calls.get(event.call);
        if (call !== undefined) pieces.get(call)?.push(event.text);
        break;
      }
      case 'usage':
        usage = event.usage;
        break;
      case 'finish':
        finish = event;
        break;
      case 'tool-end':
      case 'error':
        break;
    }
  }
  return {
    ...start,
    parts: parts.map((part) => {
      const text = (pieces.get(part) ?? []).join('');
      if (part.kind === 'redacted') return part;
      return part.kind === 'tool-call' ? { ...part, arguments: text } : { ...part, text };
    }),
    usage,
    reason: finish.reason,
    stopSequence: finish.stopSequence,
  };
}

/**
 * The provider's id of an answer with the prefix that the caller's dialect has, so that one can be found by the other.
 */
export function answerId(prefix: string, id: string): string {
  return id.startsWith(prefix) ? id : `${prefix}${id.replace(/[^A-Za-z0-9_-]/g, '_')}`;
}
