import type { EventHit } from '@slipway/contracts/conversations';
import type { CandidateRow } from './lookup.queries.js';
import { timeOf } from './turns-of.js';

/** Parts of an event that a reader sees. */
const SHOWN = ['llm_message', 'thought', 'action', 'observation', 'error', 'rejection_reason', 'detail', 'summary'];
/** Parts of those that are names for programs, or pictures. */
const UNSEEN = new Set(['kind', 'type', 'role', 'image_urls', 'tool_call_id', 'id']);
/** What an excerpt shows before and after. UTF-16 code units. */
const BEFORE = 40;
const AFTER = 80;
/** A sandbox writes what it likes: deeper is not looked at. */
const MAX_DEPTH = 12;

/** Where an event holds a text that a reader sees; `null` when it does not, or does not read. */
export function hitOf({ seq, kind, event }: CandidateRow, q: string): EventHit | null {
  const parsed = recordOf(event);
  if (parsed === null) return null;
  const wanted = q.toLowerCase();
  for (const name of SHOWN)
    for (const text of textsIn(parsed[name], 0)) {
      const at = text.toLowerCase().indexOf(wanted);
      if (at === -1) continue;
      return {
        seq,
        kind,
        at: timeOf(String(parsed['timestamp'])),
        actionId: actionOf(parsed),
        excerpt: excerptOf(text, at, q),
      };
    }
  return null;
}

function recordOf(json: string): Record<string, unknown> | null {
  try {
    const parsed: unknown = JSON.parse(json);
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function* textsIn(value: unknown, depth: number): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'object' && value !== null && depth < MAX_DEPTH)
    for (const [name, part] of Object.entries(value)) if (!UNSEEN.has(name)) yield* textsIn(part, depth + 1);
}

function actionOf(event: Record<string, unknown>): string | null {
  const id = event['kind'] === 'ActionEvent' ? event['id'] : event['action_id'];
  return typeof id === 'string' ? id.slice(0, 100) : null;
}

function excerptOf(text: string, at: number, q: string): string {
  const from = Math.max(0, at - BEFORE);
  const to = at + q.length + AFTER;
  const cut = text.slice(from, to).replaceAll(/\s+/g, ' ').trim();
  return `${from > 0 ? '…' : ''}${cut}${to < text.length ? '…' : ''}`;
}
