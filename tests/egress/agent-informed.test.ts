import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { until } from '@slipway/testing';
import type { User } from '../../apps/app-server/dist/testing/conversation-app.js';
import { EgressWorld, type Sandbox } from './world.ts';

jest.setTimeout(60_000);

interface Notice {
  readonly text: string;
  readonly notice: string;
  readonly created_by: string;
}

describe('the agent whose command asks for a host', () => {
  let world: EgressWorld;
  let ada: User;
  let grace: User;
  beforeAll(async () => {
    world = await EgressWorld.start(20);
    ada = await world.app.user('Ada');
    grace = await world.app.user('Grace');
    await world.app.owner.query("INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'member')", [
      ada.orgId,
      grace.userId,
    ]);
  });
  afterAll(() => world?.close());

  /** Its sandbox runs; nobody delivers to it here. */
  async function running(): Promise<Sandbox> {
    const sandbox = await world.sandbox(ada);
    await world.app.started(sandbox.conversation, 1, { url: 'http://127.0.0.1:9', key: 'key' });
    return sandbox;
  }
  async function notices({ conversation }: Sandbox): Promise<Notice[]> {
    const { rows } = await world.app.owner.query<Notice>(
      'SELECT text, notice, created_by FROM app.inbox_message WHERE conversation_id = $1 AND notice IS NOT NULL ORDER BY position',
      [conversation],
    );
    return rows;
  }
  const settings = (change: object): Promise<unknown> =>
    world.app.owner.query('UPDATE app.org SET settings = settings || $2::jsonb WHERE id = $1', [
      ada.orgId,
      JSON.stringify(change),
    ]);
  const ask = async (sandbox: Sandbox, host: string, asker?: string) => {
    const connecting = world.connect(sandbox, world.name(host), asker);
    const request = await world.waiting(ada, sandbox, host);
    return { request, ended: connecting.then(({ socket }) => void socket.destroy()) };
  };

  it('reads that a user was asked, and what became of it: words for each answer, one for each request', async () => {
    const sandbox = await running();
    const { port } = world.origin;
    const expected: string[] = [];
    for (const [host, answer, said] of [
      ['once.example', {}, 'allowed by Ada once: new connections pass for 60 seconds. Try again now.'],
      ['conversation.example', { scope: 'conversation' }, 'allowed by Ada for this conversation. Try again now.'],
      ['organization.example', { scope: 'organization' }, 'allowed by Ada for the organization. Try again now.'],
      [
        'no.example',
        { decision: 'deny', reason: 'not\nours' },
        'refused by Ada, with this reason: "not ours". Do without it.',
      ],
    ] as const) {
      const { request, ended } = await ask(sandbox, host);
      // Of answers at once one counts, and is said once.
      const answers = await Promise.all([1, 2, 3].map(() => world.answer(ada, sandbox, request, answer)));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
      await ended;
      expected.push(
        `[Network] Not reached: ${host}:${port} (a user was asked; go on without it, and try again later).`,
        `[Network] ${host}:${port} was ${said}`,
      );
    }
    const said = await notices(sandbox);
    expect(said.map(({ text }) => text)).toEqual(expected);
    expect(new Set(said.map((each) => `${each.notice} ${each.created_by}`))).toEqual(new Set(['read platform']));
    // A job delivers them.
    const { rowCount } = await world.app.owner.query(
      "SELECT 1 FROM app.outbox WHERE queue = 'conversation-deliver' AND key = $1",
      [sandbox.conversation],
    );
    expect(rowCount).toBe(1);
  });

  it('reads an answer that is repeated with its key once', async () => {
    const sandbox = await running();
    const { request, ended } = await ask(sandbox, 'repeated.example');
    const key = randomUUID();
    const again = () => world.answer(ada, sandbox, request, {}, key);
    expect([(await again()).status, (await again()).status]).toEqual([200, 200]);
    await ended;
    expect(await notices(sandbox)).toHaveLength(2);
  });

  it('is started by an answer only where its organization wants that, and never by the question', async () => {
    const sandbox = await running();
    await settings({ egressAnswered: 'start' });
    const { request, ended } = await ask(sandbox, 'start.example');
    await world.answer(ada, sandbox, request);
    await ended;
    await settings({ egressAnswered: 'wait' });
    expect((await notices(sandbox)).map(({ notice }) => notice)).toEqual(['read', 'start']);
  });

  it('reads nothing of what a user asked from a terminal, and a paused one is neither woken nor written to', async () => {
    const sandbox = await running();
    const shell = await ask(sandbox, 'shell.example', 'terminal');
    expect(shell.request).toMatchObject({ actionId: 'terminal', askedBy: { kind: 'terminal', line: '', seq: null } });
    await world.answer(ada, sandbox, shell.request);
    await shell.ended;
    expect(await notices(sandbox)).toEqual([]);
    await settings({ egressAnswered: 'start' });
    const paused = await world.sandbox(ada);
    const { request, ended } = await ask(paused, 'paused.example');
    await world.answer(ada, paused, request);
    await ended;
    await settings({ egressAnswered: 'wait' });
    expect(await notices(paused)).toEqual([]);
    const { rows } = await world.app.owner.query('SELECT sandbox_status FROM app.conversation WHERE id = $1', [
      paused.conversation,
    ]);
    expect(rows).toEqual([{ sandbox_status: 'PAUSED' }]);
  });

  it('names its command: the first line of it and its place, of this conversation alone', async () => {
    const [sandbox, other] = [await running(), await running()];
    const id = randomUUID();
    const event = {
      id,
      timestamp: new Date().toISOString(),
      source: 'agent',
      kind: 'ActionEvent',
      tool_name: 'terminal',
      tool_call_id: 'call_1',
      tool_call: { id: 'call_1', name: 'terminal', arguments: '{}' },
      llm_response_id: 'r1',
      thought: [],
      action: { kind: 'TerminalAction', command: 'npm ci \u0000 \u202e\nrm -rf /', is_input: false },
      security_risk: 'LOW',
    };
    const written = await world.app.ingest(ada, sandbox.conversation, [{ producerSeq: 1, event: event as never }]);
    expect(written.status).toBe(200);
    const { request, ended } = await ask(sandbox, 'named.example', id);
    expect(request).toMatchObject({ actionId: id, askedBy: { kind: 'action', line: 'npm ci \u0000 \u202e' } });
    expect(request.askedBy?.seq).toBeGreaterThan(0);
    const stolen = await ask(other, 'named.example', id);
    expect(stolen.request).toMatchObject({ actionId: id, askedBy: null });
    for (const [of, each] of [
      [sandbox, request],
      [other, stolen.request],
    ] as const)
      await world.answer(ada, of, each, { decision: 'deny' });
    await Promise.all([ended, stolen.ended]);
  });

  it('adversary: under four eyes the word makes nobody an asker: who answered approves, and the owner still does not', async () => {
    const sandbox = await running();
    await settings({ fourEyes: true });
    const first = await ask(sandbox, 'first.example');
    expect((await world.answer(grace, sandbox, first.request)).status).toBe(200);
    await first.ended;
    // As the sandbox writes it once it was delivered.
    const { rows } = await world.app.owner.query<{ id: string; text: string }>(
      'SELECT id, text FROM app.inbox_message WHERE conversation_id = $1 AND notice IS NOT NULL ORDER BY position',
      [sandbox.conversation],
    );
    expect(rows).toHaveLength(2);
    const events = rows.map(({ id, text }, index) => ({
      producerSeq: index + 1,
      event: {
        id,
        timestamp: new Date().toISOString(),
        source: 'environment' as const,
        kind: 'MessageEvent' as const,
        llm_message: { role: 'user' as const, content: [{ type: 'text' as const, text }] },
      },
    }));
    expect((await world.app.ingest(ada, sandbox.conversation, events)).status).toBe(200);
    const second = await ask(sandbox, 'second.example');
    expect((await world.answer(ada, sandbox, second.request)).body.code).toBe('conversation.four-eyes');
    expect((await world.answer(grace, sandbox, second.request)).status).toBe(200);
    await second.ended;
    await settings({ fourEyes: false });
    await until('the words are in the log', async () => {
      const left = await world.app.owner.query(
        "SELECT 1 FROM app.inbox_message WHERE conversation_id = $1 AND notice IS NOT NULL AND state = 'consumed'",
        [sandbox.conversation],
      );
      return left.rowCount === 2;
    });
  });
});
