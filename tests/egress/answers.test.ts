import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { MAX_EGRESS_REQUESTS_PER_HOUR } from '@slipway/contracts/sandboxes';
import type { User } from '../../apps/app-server/dist/testing/conversation-app.js';
import { EgressWorld, type Sandbox } from './world.ts';

jest.setTimeout(120_000);

describe('an answer to a sandbox that asked for a host', () => {
  let world: EgressWorld;
  let ada: User;
  beforeAll(async () => {
    world = await EgressWorld.start(20);
    ada = await world.app.user('Ada');
  });
  afterAll(() => world?.close());
  /** The one that runs for the conversation after it. */
  const next = (sandbox: Sandbox): Sandbox => ({ ...sandbox, claim: `${sandbox.claim}_next` });
  const paused = ({ conversation }: Sandbox): Promise<unknown> =>
    world.app.owner.query("UPDATE app.conversation SET desired = 'rest', sandbox_status = 'PAUSED' WHERE id = $1", [
      conversation,
    ]);
  const asked = async (sandbox: Sandbox, host: string) => {
    const connecting = world.connect(sandbox, world.name(host));
    return { request: await world.waiting(ada, sandbox, host), connecting };
  };
  const ended = async (connecting: ReturnType<EgressWorld['connect']>): Promise<number> => {
    const { status, socket } = await connecting;
    socket.destroy();
    return status;
  };

  it('counts once of ten at the same time, by users who contradict each other, and only that one is recorded', async () => {
    const sandbox = await world.sandbox(ada);
    const { request, connecting } = await asked(sandbox, 'race.example');
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        world.answer(ada, sandbox, request, {
          decision: index % 2 === 0 ? 'allow' : 'deny',
          scope: index % 4 === 0 ? 'once' : 'conversation',
        }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 9 }, () => 409)]);
    const counted = answers.find(({ status }) => status === 200)?.body;
    expect(await ended(connecting)).toBe(counted?.state === 'allowed' ? 200 : 403);
    const { rows } = await world.app.owner.query<{ count: number }>(
      "SELECT count(*)::integer FROM app.audit_entry WHERE action LIKE 'egress-request.%' AND target LIKE $1",
      [`%${request.id}`],
    );
    expect(rows).toEqual([{ count: 1 }]);
    expect((await world.requests(ada, sandbox))[0]).toMatchObject({ state: counted?.state, scope: counted?.scope });
  });

  it('that comes after the conversation was paused holds for the next sandbox, without another request', async () => {
    const sandbox = await world.sandbox(ada);
    const { request, connecting } = await asked(sandbox, 'later.example');
    await paused(sandbox);
    expect((await world.answer(ada, sandbox, request, { scope: 'conversation' })).status).toBe(200);
    expect(await ended(connecting)).toBe(200);
    expect(await world.status(next(sandbox), world.name('later.example'))).toBe(200);
    expect(await world.requests(ada, sandbox)).toHaveLength(1);
  });

  it('for once is of the sandbox that asked: the one that replaces it within the minute is asked about anew', async () => {
    const sandbox = await world.sandbox(ada);
    const { request, connecting } = await asked(sandbox, 'minute.example');
    await paused(sandbox);
    expect((await world.answer(ada, sandbox, request, { scope: 'once' })).status).toBe(200);
    expect(await ended(connecting)).toBe(200);
    expect(await world.status(sandbox, world.name('minute.example'))).toBe(200);
    const again = await asked(next(sandbox), 'minute.example');
    expect(again.request.id).not.toBe(request.id);
    expect((await world.answer(ada, sandbox, again.request, { decision: 'deny' })).status).toBe(200);
    expect(await ended(again.connecting)).toBe(403);
  });

  it('for once is of the sandbox that asked last, while the request waited', async () => {
    const sandbox = await world.sandbox(ada);
    const first = await asked(sandbox, 'same.example');
    const connecting = world.connect(next(sandbox), world.name('same.example'));
    // A second try of the same request.
    for (let tries = 1; tries < 2; ) tries = (await world.requests(ada, sandbox))[0]?.tries ?? 1;
    expect((await world.answer(ada, sandbox, first.request)).status).toBe(200);
    expect(await ended(connecting)).toBe(200);
    // The one before it, should it still run, is asked about.
    const anew = await world.waiting(ada, sandbox, 'same.example');
    await world.answer(ada, sandbox, anew, { decision: 'deny' });
    expect(await ended(first.connecting)).toBe(403);
  });
});

describe('adversary: a sandbox that asks for one new host after the other, each of them answered', () => {
  it('gets no user asked for more than twenty within an hour, then is refused, and asks again an hour later', async () => {
    const world = await EgressWorld.start(20);
    try {
      const ada = await world.app.user('Ada');
      const sandbox = await world.sandbox(ada);
      for (let each = 1; each <= MAX_EGRESS_REQUESTS_PER_HOUR; each += 1) {
        const connecting = world.connect(sandbox, world.name(`one-${each}.example`));
        const request = await world.waiting(ada, sandbox, `one-${each}.example`);
        await world.answer(ada, sandbox, request, { decision: 'deny' });
        expect((await connecting).status).toBe(403);
      }
      const refused = await world.connect(sandbox, world.name('more.example'));
      expect([refused.status, refused.problem.code]).toEqual([403, 'egress.asked-too-often']);
      expect(world.proxy.asked).not.toContain('more.example');
      expect(await world.requests(ada, sandbox)).toHaveLength(MAX_EGRESS_REQUESTS_PER_HOUR);
      // Another conversation of the same user is asked about.
      const other = await world.sandbox(ada);
      const connecting = world.connect(other, world.name('more.example'));
      await world.answer(ada, other, await world.waiting(ada, other, 'more.example'));
      expect((await connecting).status).toBe(200);
      await world.app.owner.query("UPDATE app.egress_request SET created_at = created_at - interval '1 hour'");
      const later = world.connect(sandbox, world.name('later.example'));
      await world.answer(ada, sandbox, await world.waiting(ada, sandbox, 'later.example'));
      expect((await later).status).toBe(200);
    } finally {
      await world.close();
    }
  });
});
