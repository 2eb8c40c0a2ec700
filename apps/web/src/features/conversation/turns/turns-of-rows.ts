import type { ConversationTurn } from '@slipway/contracts/conversations';
import { beginsTurn, isFailure, short } from '../row-name.ts';
import type { Row } from '../timeline-row.ts';

/** A turn for the eye and for the list: where it begins, what it says and what it brought. */
export interface Turn {
  readonly seq: number;
  readonly text: string;
  readonly edits: boolean;
  readonly failures: boolean;
}

/**
 * Turns of the whole log: those above the loaded rows from the server, the rest from the rows. Rows before the first
 * message are of the turn above.
 */
export function turnsOfRows(above: readonly ConversationTurn[], rows: readonly Row[], firstSeq: number): Turn[] {
  const turns: Turn[] = above
    .filter(({ seq }) => seq < firstSeq)
    .map(({ seq, text, edits, failures }) => ({ seq, text, edits: edits > 0, failures: failures.length > 0 }));
  for (const row of rows) {
    if (row.kind === 'message' && beginsTurn(row))
      turns.push({ seq: row.seq, text: short(row.text), edits: false, failures: false });
    const last = turns.at(-1);
    if (last === undefined) continue;
    const edits = last.edits || (row.kind === 'steps' && row.fold === 'edit');
    const failures = last.failures || isFailure(row);
    if (edits !== last.edits || failures !== last.failures) turns[turns.length - 1] = { ...last, edits, failures };
  }
  return turns;
}
