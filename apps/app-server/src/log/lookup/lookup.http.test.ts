import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  ConversationTurns,
  EventHits,
  MAX_LOOKED_AT,
  MAX_TURN_FAILURES,
  MAX_TURN_LINE,
} from '@slipway/contracts/conversations';
import { ConversationApp, type User } from '../../testing/conversation-app.js';
import { answer, command, message, type Part, state, storeLog } from '../../testing/sample-log.js';

describe('looking up a place in a log', () => {
  let app: ConversationApp;
  let user: User;

  beforeAll(async () => {
    app = await ConversationApp.start();
    user = await app.user();
  });
  afterAll(() => app?.close());

  const store = (parts: readonly Part[], raw?: (json: string) => string) => storeLog(app, user, parts, raw);
  const turns = async (id: string, query = ''): Promise<ConversationTurns> => {
    const { status, body } = await app.http(user, 'GET', app.path(user, id, `/turns${query}`));
    expect([status, body]).toEqual([200, expect.anything()]);
    return ConversationTurns.parse(body);
  };
  const search = async (id: string, q: string, more = ''): Promise<EventHits> => {
    const path = app.path(user, id, `/events/search?q=${encodeURIComponent(q)}${more}`);
    const { status, body } = await app.http(user, 'GET', path);
    expect([status, body]).toEqual([200, expect.anything()]);
    return EventHits.parse(body);
  };

  it('gives what each message brought, and nothing of what came before the first', async () => {
    const [one, two] = [randomUUID(), randomUUID()];
    const id = await store([
      state('execution_status', 'waiting_for_confirmation'),
      message('\n  Mend the "sum".\nIt is off by one.'),
      command('npm test', one),
      state('execution_status', 'waiting_for_confirmation'),
      answer(one, 'no', { exit_code: 2 }),
      answer(two, 'ok', { kind: 'FileEditorObservation', command: 'str_replace' }),
      answer(two, 'ok', { kind: 'FileEditorObservation', command: 'view' }),
      { kind: 'AgentErrorEvent', error: 'interrupted: by a user', tool_call_id: 'x' },
      message('Next.'),
      { kind: 'ConversationErrorEvent', code: 'x', detail: 'y' },
    ]);
    expect(await turns(id)).toMatchObject({
      data: [
        { seq: 2, text: 'Mend the "sum".', edits: 1, failures: [5], questions: 1, at: '2026-01-01T00:00:01.000Z' },
        { seq: 9, text: 'Next.', edits: 0, failures: [10], questions: 0 },
      ],
      page: { nextAfter: null },
    });
    expect((await turns(id, '?before=5')).data).toMatchObject([{ seq: 2, edits: 0, failures: [], questions: 1 }]);
    expect((await turns(id, '?after=5')).data).toMatchObject([
      { seq: 2, edits: 1, failures: [] },
      { seq: 9, failures: [10] },
    ]);
    expect(await turns(id, '?after=999')).toEqual({ data: [], page: { nextAfter: null } });
  });

  it('finds text that a reader sees, newest first, with the call that it belongs to', async () => {
    const one = randomUUID();
    const id = await store([
      message('Where is the NEEDLE, 100% of it?'),
      command('grep needle .', one),
      answer(one, `${'x'.repeat(500)} the\n"needle" ${'y'.repeat(500)}`),
      { kind: 'AgentErrorEvent', error: 'no_such', tool_call_id: 'x', action_id: 7 },
    ]);
    const found = await search(id, 'needle');
    expect(found.page).toEqual({ nextBefore: null });
    expect(found.data.map(({ seq, actionId }) => [seq, actionId])).toEqual([
      [3, one],
      [2, one],
      [1, null],
    ]);
    expect(found.data[0]?.excerpt).toMatch(/^…x+ the "needle" y+…$/);
    const seqs = async (q: string, more = '') => (await search(id, q, more)).data.map(({ seq }) => seq);
    expect([
      await seqs('the\n"needle"'),
      await seqs('100%'),
      await seqs('1%'),
      await seqs('no_such'),
      await seqs('noxsuch'),
      await seqs('TerminalAction'),
      await seqs('action_id'),
      await seqs(`\\`),
      await seqs("'; DROP TABLE app.event; --"),
      await seqs('needle', '&before=3&limit=1'),
    ]).toEqual([[3], [1], [], [4], [], [], [], [], [], [2]]);
    expect((await search(id, 'needle', '&limit=1')).page).toEqual({ nextBefore: 3 });
    expect(await search(id, 'needle', '&before=1')).toEqual({ data: [], page: { nextBefore: null } });
  });

  it('refuses what is no question', async () => {
    const id = await store([message('x')]);
    for (const query of [
      '',
      '?q=',
      '?q=%20',
      `?q=${'x'.repeat(201)}`,
      '?q=x&limit=201',
      '?q=x&before=0',
      '?q=x&before=y',
    ])
      expect([query, (await app.http(user, 'GET', app.path(user, id, `/events/search${query}`))).status]).toEqual([
        query,
        400,
      ]);
    expect((await app.http(user, 'GET', app.path(user, id, '/turns?after=-1'))).status).toBe(400);
    for (const place of ['/turns', '/events/search?q=x'])
      expect((await app.http(user, 'GET', app.path(user, randomUUID(), place))).status).toBe(404);
  });

  it('reads what a hostile sandbox wrote: NUL, half characters, deep and wrong shapes', async () => {
    let deep: unknown = 'needle';
    for (let level = 0; level < 2_000; level += 1) deep = [deep];
    const id = await store(
      [
        message(`needle ${'long '.repeat(200)}`),
        message('§'),
        { kind: 'ActionEvent', action: deep, id: randomUUID() },
        { kind: 'ObservationEvent', observation: 'needle', action_id: { needle: 1 } },
        { kind: 'ObservationEvent', observation: { exit_code: 'needle', is_error: 'needle', kind: 7 } },
        { kind: 'MessageEvent', llm_message: 7, timestamp: 'never' },
      ],
      (json) => json.replace('§', '\\u0000\\ud800needle'),
    );
    expect((await search(id, 'needle')).data.map(({ seq }) => seq)).toEqual([5, 4, 2, 1]);
    const { data } = await turns(id);
    expect(data.map(({ seq, failures }) => [seq, failures])).toEqual([
      [1, []],
      [2, []],
    ]);
    for (const { text } of data) expect(text.length).toBeLessThanOrEqual(MAX_TURN_LINE);
  });

  it('looks at a bounded part of a long log and says where to go on', async () => {
    const failing = answer(randomUUID(), 'hay', { exit_code: 1 });
    const id = await store([message('needle'), ...Array.from({ length: MAX_LOOKED_AT + 500 }, () => failing)]);
    const first = await search(id, 'needle');
    expect(first).toEqual({ data: [], page: { nextBefore: 502 } });
    const rest = await search(id, 'needle', `&before=${first.page.nextBefore}`);
    expect([rest.data.map(({ seq }) => seq), rest.page.nextBefore]).toEqual([[1], null]);
    const some = await search(id, 'hay', '&limit=200');
    expect([some.data.length, some.page.nextBefore]).toEqual([200, MAX_LOOKED_AT + 302]);
    const opening = await turns(id);
    expect(opening.page.nextAfter).toBe(MAX_LOOKED_AT);
    expect(opening.data[0]?.failures).toHaveLength(MAX_TURN_FAILURES);
    expect(await turns(id, `?after=${MAX_LOOKED_AT}`)).toMatchObject({ page: { nextAfter: null } });
  });
});
