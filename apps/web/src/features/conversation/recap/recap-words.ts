import type { ConversationRecap } from '@slipway/contracts/conversations';
import { money } from '../../../browser/format.ts';
import type { Translate } from '../../../messages/translate.ts';

/** The counts of a recap that are not nothing, in the order in which they are read. */
export function recapWords(t: Translate, recap: ConversationRecap): readonly string[] {
  const { steps, files, failures, tests, questions, messages, costUsd } = recap;
  const counted = (
    [
      ['reading.recapSteps', steps],
      ['reading.recapFiles', files],
      ['reading.recapFailures', failures],
      ['reading.recapQuestions', questions],
      ['reading.recapMessages', messages],
    ] as const
  ).map(([key, count]) => (count === 0 ? '' : t(key, { count })));
  const [ofSteps = '', ofFiles = '', ofFailures = '', ...others] = counted;
  const cost = costUsd === null || costUsd === 0 ? '' : money(costUsd);
  return [ofSteps, ofFiles, testWords(t, tests), ofFailures, ...others, cost].filter((word) => word !== '');
}

/** How the last run of tests ended; counts where the runner said them. */
function testWords(t: Translate, tests: ConversationRecap['tests']): string {
  if (tests === null) return '';
  const { ok, passed, failed } = tests;
  if (passed === null || failed === null) return t(ok ? 'reading.recapTestsPassed' : 'reading.recapTestsFailed');
  // A run that failed with all its tests passed failed otherwise: that must not read as a success.
  if (failed === 0 && !ok) return t('reading.recapTestsFailed');
  return t('reading.recapTests', { passed, failed });
}

/**
 * Place of the next counted row that is another one on the screen: consecutive edits are one row, and so are a call and
 * what it asks leave for.
 * @param rowOf key of the row that shows a position; `null`: it is not loaded.
 * @returns `rows.length` after the last
 */
export function nextPlace(rows: readonly number[], from: number, rowOf: (seq: number) => string | null): number {
  const here = rows[from];
  const current = here === undefined ? null : rowOf(here);
  let place = from + 1;
  for (; place < rows.length; place += 1) {
    const key = rowOf(rows[place] ?? 0);
    if (key === null || key !== current) break;
  }
  return place;
}
