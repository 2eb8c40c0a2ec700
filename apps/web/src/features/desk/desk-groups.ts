import { answerHereOf } from './answer-here.ts';
import type { DeskLine } from './desk-store.ts';

/** So many decisions are read as one list; more are grouped by repository. */
export const MOST_UNGROUPED = 50;

export interface DeskGroup {
  /** As it was given to the conversations; `null`: they have none, or the list is not grouped. */
  readonly repository: string | null;
  readonly lines: readonly DeskLine[];
}

/** The groups in the order of their dearest decisions, and each in the order of the Desk. */
export function groupsOf(waiting: readonly DeskLine[]): DeskGroup[] {
  if (waiting.length <= MOST_UNGROUPED) return [{ repository: null, lines: waiting }];
  const groups = Map.groupBy(waiting, ({ facts }) => facts.repository);
  return [...groups].map(([repository, lines]) => ({ repository, lines }));
}

/**
 * Other requests that one answer may be given to as well: the same command of the same tool, in the same repository, of
 * the same risk, that could each be answered in its row.
 */
export function alikeOf(line: DeskLine, waiting: readonly DeskLine[]): readonly DeskLine[] {
  const key = requestKey(line);
  return key === null ? [] : waiting.filter((other) => other !== line && requestKey(other) === key);
}

/** `null`: it cannot be approved in its row. */
function requestKey(line: DeskLine): string | null {
  const { approval, repository } = line.facts;
  if (approval === null || answerHereOf(line) !== 'approve') return null;
  return JSON.stringify([repository, approval.tool, approval.risk, approval.text]);
}
