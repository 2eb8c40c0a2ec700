import { describe, expect, it } from '@jest/globals';
import { clock } from '../../browser/format.ts';
import { t } from '../../messages/testing.ts';
import { linkTo } from './reveal.ts';
import { beginsTurn, isFailure, rowName } from './row-name.ts';
import { action, answer, logOf, message, terminal, update, view } from './sample-events.ts';
import { appendToTimeline, EMPTY_TIMELINE } from './timeline.ts';
import { rowIndexOf } from './use-reveal.ts';
import { workspacePaths } from './workspace-path.ts';

const words = { t, reader: undefined, paths: workspacePaths(null) };
const log = logOf([
  message('user', 'Mend the sum.\nIt is off by one.', { sender: 'Ana', source: 'user' }),
  terminal('a', 'cd /workspace/project && npm test'),
  answer(2, 'a', { kind: 'TerminalObservation', content: [], is_error: false, command: 'npm test', exit_code: 1 }),
  view('b', '/workspace/project/src/sum.ts'),
  view('c', '/workspace/project/src/sum.test.ts'),
  update('llm_retry', { code: 'model.unavailable', detail: '503 for now.', attempt: 1, wait_ms: 500 }),
  action('d', { kind: 'FinishAction', message: 'All done.' }),
]);
const { rows } = appendToTimeline(EMPTY_TIMELINE, log);
const time = (seq: number) => clock(log[seq - 1]?.event.timestamp ?? '');

describe('the name of a row', () => {
  it('says who, when, what and how it ended', () => {
    expect(rows.map((row) => rowName(row, words))).toEqual([
      `Ana, ${time(1)}, Mend the sum.`,
      `Agent, ${time(2)}, ran npm test, failed`,
      `Agent, ${time(4)}, read 2 times in files, running`,
      'Slipway, model called again: 503 for now.',
      `Agent, ${time(7)}, finished: All done.`,
    ]);
  });

  it('is short, however long the row is', () => {
    const [row] = appendToTimeline(EMPTY_TIMELINE, logOf([message('user', 'x'.repeat(1_000_000))])).rows;
    expect(row && rowName(row, words).length).toBeLessThan(200);
  });
});

describe('a place in the log', () => {
  it('is the row that holds its call, else the last row at or before it', () => {
    const call = log[4]?.event.id ?? '';
    expect([
      rowIndexOf(rows, { seq: 1, stepId: null }),
      rowIndexOf(rows, { seq: 3, stepId: null }),
      rowIndexOf(rows, { seq: 3, stepId: call }),
      rowIndexOf(rows, { seq: 3, stepId: 'unknown' }),
      rowIndexOf([], { seq: 3, stepId: null }),
    ]).toEqual([0, 1, 2, 1, 0]);
  });

  it('has a link without what else the address says', () => {
    expect(linkTo(412, { origin: 'https://slipway.test', pathname: '/acme/conversations/c1' })).toBe(
      'https://slipway.test/acme/conversations/c1?event=412',
    );
  });

  it('begins a turn where a user wrote, and is a failure where something failed', () => {
    expect(rows.map(beginsTurn)).toEqual([true, false, false, false, false]);
    expect(rows.map(isFailure)).toEqual([false, true, false, false, false]);
  });
});
