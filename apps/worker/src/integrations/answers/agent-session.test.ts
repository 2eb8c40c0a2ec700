import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { linearVendor, type ScriptedVendor } from '@slipway/integrations/testing';
import fc from 'fast-check';
import { dyingPool } from '../testing/dying-pool.js';
import { TrackerWorld } from '../testing/tracker-world.js';

const ANN = { id: 'ann', name: 'Ann' };

describe('an agent session of Linear', () => {
  let world: TrackerWorld;
  let vendor: ScriptedVendor;
  let sessions = 0;
  beforeAll(async () => {
    vendor = linearVendor();
    world = await TrackerWorld.open('linear', vendor, ANN.id, {
      defaultRepository: 'https://git.example/acme/usual',
      repositories: [{ place: 'shop', repository: 'https://git.example/acme/shop' }],
    });
  });
  afterAll(() => world?.close());
  beforeEach(() => world.reset());

  const created = (session: string, creator: { id: string; name: string } = ANN): object => ({
    type: 'AgentSessionEvent',
    action: 'created',
    organizationId: 'o1',
    appUserId: 'app-user',
    agentSession: {
      id: session,
      url: `https://linear.app/acme/issue/SHOP-1#${session}`,
      creator,
      issue: {
        id: `issue-${session}`,
        identifier: 'SHOP-1',
        title: 'Total',
        url: 'https://linear.app/i',
        description: 'Add it up.',
        team: { id: 't', key: 'SHOP' },
      },
      comment: { id: `comment-${session}`, body: 'Please fix the total.' },
      createdAt: '2026-11-24T03:00:00Z',
    },
  });
  const prompted = (session: string, activity: string, body: string, signal?: string): object => ({
    ...created(session),
    action: 'prompted',
    agentActivity: {
      id: activity,
      content: { type: 'prompt', body },
      user: ANN,
      createdAt: '2026-11-24T03:01:00Z',
      ...(signal === undefined ? {} : { signal }),
    },
  });
  const fresh = (): string => {
    sessions += 1;
    return `session-${sessions}`;
  };
  const began = async (): Promise<{ session: string; id: string }> => {
    const session = fresh();
    const { outcome, conversationId: id } = await world.take(created(session));
    expect(outcome).toBe('done conversation-started');
    await world.runNotices();
    await world.hears(id);
    return { session, id };
  };
  const working = async (id: string): Promise<void> => {
    await world.becomes(id, 'running');
    await world.settle(id, () => vendor.messages.some(({ mark }) => mark === 'ephemeral'));
  };

  it('has its first thought while a git host still lets us wait, and with no sandbox', async () => {
    const hung = Promise.withResolvers<'write'>();
    world.rights = () => hung.promise;
    await world.owner.query(
      `INSERT INTO app.external_identity (provider, host, external_user_id, user_id, login) VALUES ('gitea', 'git.example', 'ann', 'usr_ann', 'ann') ON CONFLICT DO NOTHING`,
    );
    await world.owner.query(
      `INSERT INTO app.integration_connection (id, org_id, provider, kind, name, host, signature, own, settings, created_by, created_by_label)
       VALUES ('git', 'org_tracker', 'gitea', 'token', 'g', 'git.example', 'sha256', '{"ids":[],"mention":"slipway"}', '{"labels":[],"bots":[],"confidential":false,"defaultRepository":null}', 'u', 'u')`,
    );
    await world.owner.query(
      `INSERT INTO app.integration_secret (id, org_id, connection_id, kind, sealed, key_version) VALUES ('git-token', 'org_tracker', 'git', 'token', 'x', 1)`,
    );
    try {
      const decided = world.take(created(fresh()));
      for (;;) {
        await world.runNotices();
        if (world.shown().length > 0) break;
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(world.shown()).toEqual(['thought: Slipway has seen this.']);
      hung.resolve('write');
      expect((await decided).outcome).toBe('done conversation-started');
    } finally {
      hung.resolve('write');
      world.rights = () => Promise.resolve('write');
      await world.owner.query(`DELETE FROM app.integration_connection WHERE id = 'git'`);
    }
  });

  it('works in the repository of its team, whose issue it moves to the first state of work and takes on', async () => {
    const { session, id } = await began();
    const { rows } = await world.owner.query('SELECT repository FROM app.conversation WHERE id = $1', [id]);
    expect(rows).toEqual([{ repository: 'https://git.example/acme/shop' }]);
    await world.settle(id);
    expect(vendor.ticket).toEqual({ state: 'started', moves: 1, delegate: 'app-user' });
    expect([...vendor.links.keys()]).toEqual([`https://slipway.test/tracker/conversations/${id}`]);
    expect(session).toBeTruthy();
  });

  it('shows what the agent does, in numbers alone, and ends with a response', async () => {
    const { id } = await began();
    await world.becomes(id, 'running');
    for (const command of ['cat /run/secrets/key', 'npm test'])
      await world.does(id, { kind: 'TerminalAction', command });
    await world.does(id, { kind: 'FileEditorAction', command: 'view', path: '/x' });
    await world.does(id, { kind: 'FileEditorAction', command: 'create', path: '/x' });
    await working(id);
    expect(world.shown()).toEqual([
      'thought: Slipway has seen this.',
      'action: 2 commands, 1 file change, 1 look at files',
    ]);
    await world.does(id, { kind: 'BrowserNavigateAction', url: 'https://x.test' });
    await world.settle(id, () => world.shown().some((each) => each.includes('browser')));
    expect(world.shown()).toEqual([
      'thought: Slipway has seen this.',
      'action: 2 commands, 1 file change, 1 look at files, 1 step in the browser',
    ]);
    await world.says(id, 'The total was never added.');
    await world.becomes(id, 'finished');
    await world.settle(id);
    expect(world.shown()).toEqual([
      'thought: Slipway has seen this.',
      expect.stringMatching(/^response: Slipway has finished\. It says:\n\n> The total was never added\./),
    ]);
    expect(JSON.stringify(vendor.messages)).not.toMatch(/secrets|npm test|<!--/);
  });

  it('answers each prompt, though it has the same to say', async () => {
    const { session, id } = await began();
    for (const [turn, activity] of ['a1', 'a2', 'a3'].entries()) {
      await world.becomes(id, 'running');
      await world.becomes(id, 'finished');
      await world.settle(id);
      expect(world.shown().filter((each) => each.startsWith('response: Slipway has finished.'))).toHaveLength(turn + 1);
      expect(world.shown().filter((each) => each === 'thought: Slipway has seen this.')).toHaveLength(turn + 1);
      expect(await world.take(prompted(session, activity, 'And again.'))).toEqual({
        outcome: 'done message-added',
        conversationId: id,
      });
      await world.runNotices();
      await world.hears(id);
    }
  });

  it('asks for approval, stops on request, and says how far it was', async () => {
    const { session, id } = await began();
    await world.does(id, { kind: 'TerminalAction', command: 'npm test' });
    await world.becomes(id, 'waiting_for_confirmation');
    await world.settle(id);
    expect(world.shown().at(-1)).toMatch(/^elicitation: Slipway waits for approval/);
    expect((await world.take(prompted(session, 'stop', '', 'stop'))).outcome).toBe('done run-stopped');
    expect((await world.owner.query('SELECT desired FROM app.conversation WHERE id = $1', [id])).rows).toEqual([
      { desired: 'rest' },
    ]);
    await world.owner.query(
      `UPDATE app.conversation SET status_state = '{"execution":"running","start":"ready","halt":"pause"}' WHERE id = $1`,
      [id],
    );
    await world.becomes(id, 'paused');
    await world.settle(id);
    expect(world.shown().at(-1)).toMatch(
      /^response: Slipway was stopped\. A message here goes on\. Done so far: 1 command\./,
    );
  });

  it('of an unlinked user asks them to link, and one that cannot be acted on is answered all the same', async () => {
    const session = fresh();
    expect((await world.take(created(session, { id: 'eve', name: 'Eve' }))).outcome).toBe('refused actor-not-linked');
    await world.runNotices();
    expect(world.shown().at(-1)).toMatch(/^elicitation \(auth\): Slipway does not know your account here yet\./);
    expect((await world.take(prompted(fresh(), 'stop', '', 'stop'))).outcome).toBe('ignored nothing-to-stop');
    await world.runNotices();
    expect(world.shown().at(-1)).toBe('response: Nothing of Slipway runs here.');
    await world.owner.query(`UPDATE app.membership SET role = 'viewer'`);
    expect((await world.take(created(fresh()))).outcome).toBe('refused actor-not-allowed');
    await world.runNotices();
    await world.owner.query(`UPDATE app.membership SET role = 'member'`);
    expect(world.shown().at(-1)).toMatch(/^error: Slipway did not start: your role/);
  });

  it('waits where Linear limits calls by 400 or 429, and says everything once afterwards', async () => {
    const { id } = await began();
    await world.says(id, 'Done.');
    await world.becomes(id, 'finished');
    const limited = [400, { errors: [{ message: 'slow down', extensions: { code: 'RATELIMITED' } }] }] as const;
    vendor.fates = [limited, [429, {}, { 'retry-after': '7' }], [429, {}], 'well', 'half', 'lost'];
    const before = world.now;
    await world.settle(id);
    expect(world.now - before).toBeGreaterThan(60_000);
    expect(world.shown().filter((each) => each.startsWith('response:'))).toHaveLength(1);
    expect(vendor.ticket.moves).toBe(1);
  });

  it('has one conversation, one thought and one response, whatever is repeated, lost or killed', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('deliver', 'again', 'answer', 'die', 'lost', 'half', 'away'), {
          minLength: 1,
          maxLength: 12,
        }),
        fc.array(fc.nat(14), { maxLength: 12 }),
        async (steps, deaths) => {
          await world.reset();
          const session = fresh();
          const first = await world.arrive(created(session));
          const ids = new Set<string>();
          const decide = async (delivery: string, pool = world.pool): Promise<void> => {
            const { conversationId } = await world.decide(delivery, pool);
            if (conversationId !== null) ids.add(conversationId);
          };
          const [id = null] = ids;
          for (const [at, step] of steps.entries()) {
            const mortal = dyingPool(world.pool, deaths[at] ?? 5);
            if (step === 'deliver') await decide(first);
            else if (step === 'again') await decide(await world.arrive(created(session)));
            else if (step === 'die') await decide(first, mortal).catch(() => {});
            else if (step === 'answer') {
              await world.runNotices().catch(() => {});
              for (const each of ids) await world.run(each, mortal).catch(() => {});
            } else vendor.fates.push(step === 'away' ? [503, {}] : step);
          }
          await decide(first);
          expect([id, ids.size]).toEqual([null, 1]);
          const [only = ''] = ids;
          await world.hears(only);
          await world.says(only, 'Done.');
          await world.becomes(only, 'finished');
          await world.settle(only);
          const shown = world.shown();
          expect(shown.filter((each) => each.startsWith('response:'))).toHaveLength(1);
          expect(shown.filter((each) => each === 'thought: Slipway has seen this.').length).toBeLessThanOrEqual(1);
          expect([vendor.ticket.moves, vendor.links.size]).toEqual([1, 1]);
        },
      ),
      { numRuns: 12 },
    );
  }, 300_000);
});
