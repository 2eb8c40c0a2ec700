import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ConversationRecap, MAX_LOOKED_AT, MAX_RECAP_ROWS } from '@slipway/contracts/conversations';
import { ConversationApp, type User } from '../../testing/conversation-app.js';
import { answer, command, finished, message, type Part, state, storeLog } from '../../testing/sample-log.js';

const EMPTY = { steps: 0, files: 0, failures: 0, tests: null, questions: 0, messages: 0, costUsd: 0, rows: [] };

describe('the recap of a log', () => {
  let app: ConversationApp;
  let user: User;

  beforeAll(async () => {
    app = await ConversationApp.start();
    user = await app.user();
  });
  afterAll(() => app?.close());

  const recap = async (id: string, after: number): Promise<ConversationRecap> => {
    const { status, body } = await app.http(user, 'GET', app.path(user, id, `/recap?after=${after}`));
    expect([status, body]).toEqual([200, expect.anything()]);
    return ConversationRecap.parse(body);
  };
  const cost = (usd: unknown): Part =>
    state('stats', { accumulated_cost: usd, prompt_tokens: 1, completion_tokens: 1, model: 'm' });

  it('counts what came after a position, and nothing before it', async () => {
    const [list, again] = [randomUUID(), randomUUID()];
    const [edit, tests, patch] = [randomUUID(), randomUUID(), randomUUID()];
    const colour = (text: string) => `\u001b[32m${text}\u001b[39m`;
    const id = await storeLog(app, user, [
      message('Mend it.'),
      command('ls', list),
      answer(list, 'a'),
      cost(0.25),
      command('ls /none', again),
      answer(again, 'no such file', { exit_code: 2 }),
      { kind: 'ActionEvent', id: edit, action: { kind: 'FileEditorAction', command: 'str_replace', path: '/w/a.ts' } },
      answer(edit, 'ok', { kind: 'FileEditorObservation', command: 'str_replace', path: '/w/a.ts' }),
      { kind: 'ActionEvent', id: patch, action: { kind: 'ApplyPatchAction', patch: '…' } },
      answer(patch, 'ok', { kind: 'ApplyPatchObservation', commit: { changes: { '/w/a.ts': {}, '/w/b.ts': {} } } }),
      command('CI=1 npm test', tests),
      answer(tests, `"x"\n${colour('Tests:')}  ${colour('1 failed')}, 212 passed, 213 total\nTime: 1 s`, {
        exit_code: 1,
      }),
      state('execution_status', 'waiting_for_confirmation'),
      { kind: 'AgentErrorEvent', error: 'rejected: no', tool_call_id: 'x' },
      { kind: 'ActionEvent', id: randomUUID(), action: { kind: 'ThinkAction', thought: 'hm' } },
      cost(1),
      finished('Done.'),
    ]);
    expect(await recap(id, 4)).toEqual({
      after: 4,
      upto: 17,
      steps: 4,
      files: 2,
      failures: 1,
      tests: { runs: 1, ok: false, passed: 212, failed: 1 },
      questions: 1,
      messages: 1,
      costUsd: 0.75,
      rows: [5, 7, 9, 11, 13, 17],
    });
    expect(await recap(id, 0)).toMatchObject({ after: 0, steps: 5, costUsd: 1 });
    expect(await recap(id, 17)).toEqual({ ...EMPTY, after: 17, upto: 17 });
    expect(await recap(id, 999)).toEqual({ ...EMPTY, after: 17, upto: 17 });
  });

  it('refuses what is no position, and what is no conversation of the organization', async () => {
    const id = await storeLog(app, user, [message('x')]);
    for (const query of ['', '?after=-1', '?after=x', '?after=1.5'])
      expect([query, (await app.http(user, 'GET', app.path(user, id, `/recap${query}`))).status]).toEqual([query, 400]);
    const stranger = await app.user();
    for (const other of [app.path(user, randomUUID(), '/recap?after=0'), app.path(stranger, id, '/recap?after=0')])
      expect((await app.http(stranger, 'GET', other)).status).toBe(404);
  });

  it('reads what a hostile sandbox wrote: NUL, half characters, wrong shapes', async () => {
    const id = await storeLog(
      app,
      user,
      [
        { kind: 'ActionEvent', action: 'x', id: 7 },
        { kind: 'ActionEvent', action: { kind: ['x'], command: { a: 1 } }, id: randomUUID() },
        { kind: 'ObservationEvent', observation: 'x', action_id: { a: 1 } },
        answer('§', '§', { kind: 'ApplyPatchObservation', commit: { changes: [1] } }),
        answer('x', '', { kind: 'FileEditorObservation', path: { a: 1 }, is_error: 'true', exit_code: 'x' }),
        cost('NaN'),
        cost('-1'),
        cost({ a: 1 }),
        state('stats', 7),
        { kind: 'MessageEvent', llm_message: 7 },
      ],
      (json) => json.replaceAll('§', '\\u0000\\ud800'),
    );
    expect(await recap(id, 0)).toMatchObject({ steps: 2, messages: 1, costUsd: 0 });
  });

  it('looks at the newest part of a long log', async () => {
    const failing = answer(randomUUID(), 'x', { exit_code: 1 });
    const id = await storeLog(
      app,
      user,
      Array.from({ length: MAX_LOOKED_AT + 500 }, () => failing),
    );
    const long = await recap(id, 3);
    expect(long).toMatchObject({ after: 500, failures: MAX_LOOKED_AT, costUsd: 0 });
    expect([long.rows.length, long.rows[0]]).toEqual([MAX_RECAP_ROWS, 501]);
  });
});
