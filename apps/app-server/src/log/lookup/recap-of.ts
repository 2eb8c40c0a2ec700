import { type ConversationRecap, MAX_LOOKED_AT, MAX_RECAP_ROWS } from '@slipway/contracts/conversations';
import { type RecapFact, recapOf } from '@slipway/domain/recap';
import type { Stretch } from './lookup.queries.js';
import type { RecapRow } from './recap.queries.js';

/**
 * What a stretch of a log comes to.
 * @param costAt cost that was logged last at or before its beginning; `null`: none was found there.
 */
export function recap(rows: readonly RecapRow[], { after, upto }: Stretch, costAt: string | null): ConversationRecap {
  // A log of fewer events than are looked at has all its costs in sight: none yet is nothing spent.
  const before = numberOf(costAt) ?? (after < MAX_LOOKED_AT ? 0 : null);
  const counted = recapOf(
    rows.flatMap((row) => factsOf(row)),
    before,
  );
  return { ...counted, after, upto, rows: counted.rows.slice(0, MAX_RECAP_ROWS) };
}

/** Calls that are no step of their own: thoughts and plans. */
const NO_STEP = new Set(['ThinkAction', 'TaskTrackerAction']);
const WRITES = /^(?:(?:Planning)?FileEditor|FileEdit|ApplyPatch)Observation$/;

function factsOf(row: RecapRow): readonly RecapFact[] {
  const { seq } = row;
  switch (row.kind) {
    case 'MessageEvent':
      return row.source === 'agent' ? [{ seq, kind: 'message' }] : [];
    case 'ActionEvent':
      if (row.part === 'FinishAction') return [{ seq, kind: 'message' }];
      if (row.id === null || NO_STEP.has(row.part ?? '')) return [];
      return [{ seq, kind: 'call', id: row.id, command: row.part === 'TerminalAction' ? (row.command ?? '') : '' }];
    case 'ObservationEvent':
      return [answerOf(row)];
    case 'AgentErrorEvent':
      return /^(?:interrupted|rejected): /.test(row.error ?? '') ? [] : [{ seq, kind: 'failure' }];
    case 'ConversationErrorEvent':
      return [{ seq, kind: 'failure' }];
    case 'ConversationStateUpdateEvent': {
      const usd = numberOf(row.cost);
      if (usd !== null) return [{ seq, kind: 'cost', usd }];
      return row.key === 'execution_status' && row.value === 'waiting_for_confirmation'
        ? [{ seq, kind: 'question' }]
        : [];
    }
    default:
      return [];
  }
}

function answerOf(row: RecapRow): RecapFact {
  const exitCode = /^-?\d{1,9}$/.test(row.exit_code ?? '') ? Number(row.exit_code) : null;
  const failed = row.is_error === 'true' || (exitCode ?? 0) > 0;
  const wrote = !failed && WRITES.test(row.part ?? '') && row.command !== 'view';
  return {
    seq: row.seq,
    kind: 'answer',
    of: row.action_id ?? '',
    failed,
    exitCode,
    output: textOf(row.output),
    edited: wrote ? (row.path === null ? pathsOf(row.patched) : [row.path]) : [],
  };
}

function pathsOf(json: string | null): readonly string[] {
  const paths: unknown = json === null ? [] : JSON.parse(json);
  return Array.isArray(paths) ? paths.filter((path) => typeof path === 'string') : [];
}

/** Text of the end of a JSON string; `/u` was `\u` there (`READABLE`). */
function textOf(json: string | null): string {
  return (json ?? '')
    .replaceAll(/\/u001b\[[0-9;]*[A-Za-z]/gi, '')
    .replaceAll(/\/u([0-9a-f]{4})/gi, (_all, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replaceAll(/\\(.)/g, (_all, sign: string) => ({ n: '\n', r: '', t: '\t' })[sign] ?? sign)
    .replace(/"\s*[}\]][\s\S]{0,200}$/, '');
}

function numberOf(text: string | null): number | null {
  const value = text === null || text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) && value >= 0 ? value : null;
}
