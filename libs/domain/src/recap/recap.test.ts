import { describe, expect, it } from '@jest/globals';
import { type RecapFact, recapOf } from './recap.js';
import { runsTests, testResult } from './test-result.js';

const call = (seq: number, command = ''): RecapFact => ({ seq, kind: 'call', id: `c${seq}`, command });
const answer = (seq: number, of: number, more: Partial<Extract<RecapFact, { kind: 'answer' }>> = {}): RecapFact => ({
  seq,
  kind: 'answer',
  of: `c${of}`,
  failed: false,
  exitCode: null,
  output: '',
  edited: [],
  ...more,
});

describe('a recap', () => {
  it('counts steps, files, failures, runs of tests, questions, messages and cost, and names their rows', () => {
    const facts: RecapFact[] = [
      call(1, 'ls'),
      answer(2, 1, { exitCode: 0 }),
      call(3),
      answer(4, 3, { edited: ['/a', '/b'] }),
      call(5),
      answer(6, 5, { edited: ['/a'] }),
      call(7, 'cd app && npm test'),
      answer(8, 7, { exitCode: 1, failed: true, output: 'Tests:       1 failed, 212 passed, 213 total' }),
      call(9, 'false'),
      answer(10, 9, { exitCode: 1, failed: true }),
      { seq: 11, kind: 'cost', usd: 0.75 },
      { seq: 12, kind: 'question' },
      { seq: 13, kind: 'failure' },
      { seq: 14, kind: 'message' },
    ];
    expect(recapOf(facts, 0.25)).toEqual({
      steps: 5,
      files: 2,
      failures: 2,
      tests: { runs: 1, ok: false, passed: 212, failed: 1 },
      questions: 1,
      messages: 1,
      costUsd: 0.5,
      rows: [1, 3, 5, 7, 9, 12, 13, 14],
    });
  });

  it('says nothing of a stretch without events, and no cost where the one before is not known', () => {
    expect(recapOf([], 1)).toMatchObject({ steps: 0, tests: null, costUsd: 0, rows: [] });
    expect(recapOf([{ seq: 2, kind: 'cost', usd: 3 }], null).costUsd).toBeNull();
    expect(recapOf([{ seq: 2, kind: 'cost', usd: 1 }], 3).costUsd).toBe(0);
  });

  it('counts what came of a call that was made before, at the position of the answer', () => {
    const facts = [answer(5, 1, { failed: true }), answer(6, 2), answer(7, 3, { edited: ['/a'] })];
    expect(recapOf(facts, 0)).toMatchObject({ steps: 0, failures: 1, files: 1, rows: [5, 7] });
  });

  it('does not count tests that still run', () => {
    expect(recapOf([call(1, 'npm test'), answer(2, 1, { exitCode: -1 })], 0).tests).toBeNull();
  });

  it('has the result of the last run of tests', () => {
    const facts = [
      call(1, 'pytest -q'),
      answer(2, 1, { exitCode: 1, failed: true, output: '1 failed, 2 passed in 3.1s' }),
    ];
    const again = [call(3, 'pytest -q'), answer(4, 3, { exitCode: 0, output: '3 passed in 3.0s' })];
    expect(recapOf([...facts, ...again], 0)).toMatchObject({
      failures: 0,
      tests: { runs: 2, ok: true, passed: 3, failed: 0 },
    });
  });
});

describe('a run of tests', () => {
  it.each([
    'npm test',
    'npm run test -- libs/db',
    'cd app && CI=1 npx jest src/a.test.ts',
    'python -m pytest -q | tail -5',
    'go test ./...',
    'cargo test --workspace',
    'node --test',
    './gradlew test',
    'time make test',
  ])('is %s', (command) => {
    expect(runsTests(command)).toBe(true);
  });

  it.each(['npm run test-data', 'cat test.ts', 'echo npm test', 'git commit -m "run jest"', 'ls tests', 'make'])(
    'is not %s',
    (command) => {
      expect(runsTests(command)).toBe(false);
    },
  );

  it.each([
    ['Test Suites: 1 failed, 11 passed, 12 total\nTests:       1 failed, 212 passed, 213 total\nTime: 3 s', 212, 1],
    ['\u001b[32m Tests \u001b[39m \u001b[1m12 passed\u001b[22m (12)', 12, 0],
    ['===== 2 failed, 40 passed, 1 skipped in 3.21s =====', 40, 2],
    ['test result: ok. 7 passed; 0 failed; 0 ignored', 7, 0],
    ['  9 passing (20ms)\n  2 failing', 9, 2],
    ['  9 passing (20ms)', 9, 0],
    ['# tests 5\n# pass 4\n# fail 1', 4, 1],
    ['12 examples, 3 failures', 9, 3],
    ['ok  \texample.com/a\t0.01s', null, null],
    ['', null, null],
  ])('reads %j', (output, passed, failed) => {
    expect(testResult(output, 0)).toEqual({ passed, failed, ok: true });
  });
});
