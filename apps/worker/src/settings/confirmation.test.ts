import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { inOrg } from '@slipway/db/sql';
import { createLogger } from '@slipway/telemetry';
import fc from 'fast-check';
import { type Harness, ORG, openHarness } from '../testing/harness.js';
import { OrgSettingsJob } from './org-settings-job.js';
import { enqueueDeliveries } from './settings.queries.js';

describe('the confirmation policy of an organization’s agents', () => {
  let harness: Harness;
  let job: OrgSettingsJob;
  const never = new AbortController().signal;
  beforeAll(async () => {
    harness = await openHarness();
    job = new OrgSettingsJob(harness.pool, harness.queue, createLogger('org-settings-test', 'silent'));
  });
  beforeEach(() => settings({}));
  afterAll(() => harness?.close());

  /** As app-server commits it. */
  const settings = (value: object): Promise<unknown> =>
    inOrg(harness.pool, ORG, async (client) => {
      await client.query(
        `INSERT INTO app.org (id, slug, name, kind, settings) VALUES ($1, 'org', 'O', 'company', $2)
         ON CONFLICT (id) DO UPDATE SET settings = excluded.settings, settings_version = app.org.settings_version + 1`,
        [ORG, JSON.stringify(value)],
      );
      await client.query(
        `INSERT INTO app.outbox (id, org_id, queue, key, payload) VALUES ($1, $2, 'org-settings', $2, $3) ON CONFLICT (queue, key) DO UPDATE SET id = excluded.id`,
        [randomUUID(), ORG, JSON.stringify({ orgId: ORG })],
      );
    });
  const choose = (id: string, mode: string): Promise<unknown> =>
    inOrg(harness.pool, ORG, (client) =>
      client.query('UPDATE app.conversation SET confirmation_mode = $2 WHERE id = $1', [id, mode]),
    );
  const sent = (id: string) =>
    (harness.peers.sessions.get(id)?.sandbox?.settings ?? []).map(({ settings: { confirmation }, version, epoch }) => ({
      ...confirmation,
      version,
      epoch,
    }));
  const running = async (): Promise<string> => {
    const { id } = await harness.create();
    await harness.start(id);
    return id;
  };

  it('reaches those that run, once, without a new start, and never below what the conversation itself wants', async () => {
    const [careless, careful, resting] = [await running(), await running(), await running()];
    await choose(careful, 'always');
    await harness.desire(resting, 'rest');
    await settings({ confirmation: 'risky', fourEyes: true });
    await job.enqueueAll('org-settings', { orgId: ORG }, never);
    expect(await Promise.all([careless, careful, resting, ORG].map((key) => harness.jobs(key)))).toEqual([
      ['conversation-deliver'],
      ['conversation-deliver'],
      [],
      [],
    ]);
    for (const id of [careless, careful]) for (let time = 0; time < 2; time += 1) await harness.start(id);
    const held = { floor: 'risky', fourEyes: true };
    expect(sent(careless)).toMatchObject([{ policy: { kind: 'ConfirmRisky' }, organization: held, epoch: 1 }]);
    expect(sent(careful)).toMatchObject([{ policy: { kind: 'AlwaysConfirm' }, organization: held, epoch: 1 }]);
    expect([(await harness.row(careless)).attempt, await harness.jobs(careless), sent(resting)]).toEqual([1, [], []]);
  });

  it('is sent again until the agent acknowledges it, and then what holds by then', async () => {
    const id = await running();
    const session = harness.peers.sessions.get(id);
    if (session === undefined) throw new Error('it has no session');
    session.refusesSettings = true;
    await settings({ confirmation: 'risky' });
    await job.enqueueAll('org-settings', { orgId: ORG }, never);
    await expect(harness.start(id)).rejects.toThrow();
    expect([sent(id), await harness.jobs(id)]).toEqual([[], ['conversation-deliver']]);
    delete session.refusesSettings;
    await settings({ confirmation: 'always' });
    await harness.start(id);
    expect([sent(id).map(({ policy }) => policy.kind), await harness.jobs(id)]).toEqual([['AlwaysConfirm'], []]);
  });

  it('keeps its outbox job when it changes again while the first change is being enqueued', async () => {
    await running();
    await settings({ confirmation: 'risky' });
    const add = harness.queue.add.bind(harness.queue);
    let changed = false;
    const meanwhile: typeof harness.queue.add = async (...args) => {
      if (!changed) await settings({ confirmation: 'always' });
      changed = true;
      return add(...args);
    };
    await new OrgSettingsJob(
      harness.pool,
      Object.assign(Object.create(harness.queue), { add: meanwhile }),
      createLogger('t', 'silent'),
    ).enqueueAll('org-settings', { orgId: ORG }, never);
    expect([changed, await harness.jobs(ORG)]).toEqual([true, ['org-settings']]);
  });

  it('reaches each conversation that runs once, in batches, and none of another organization', async () => {
    const other = `org_${randomUUID()}`;
    const row = (org: string): Promise<unknown> =>
      inOrg(harness.pool, org, (client) =>
        client.query(
          `INSERT INTO app.conversation (id, org_id, created_by, created_by_label, title, model, start_status, sandbox_status, checkpoint)
           SELECT gen_random_uuid(), $1, 'usr_a', 'A', 'T', 'demo', 'READY', 'RUNNING', '{"root": "/batch"}' FROM generate_series(1, 250)`,
          [org],
        ),
      );
    await inOrg(harness.pool, other, (client) =>
      client.query("INSERT INTO app.org (id, slug, name, kind) VALUES ($1, 'other', 'P', 'company')", [other]),
    );
    await row(ORG);
    await row(other);
    const seen: string[] = [];
    for (let after: string | null = null; ; ) {
      const ids = await enqueueDeliveries(harness.pool, ORG, after, 100);
      expect(ids.length).toBeLessThanOrEqual(100);
      seen.push(...ids);
      if (ids.length < 100) break;
      after = ids.at(-1) ?? null;
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.length).toBeGreaterThanOrEqual(250);
    const queued = await inOrg(harness.pool, other, (client) =>
      client.query("SELECT 1 FROM app.outbox WHERE queue = 'conversation-deliver'"),
    );
    expect(queued.rowCount).toBe(0);
    await inOrg(harness.pool, ORG, (client) =>
      client.query(`DELETE FROM app.conversation WHERE checkpoint = '{"root": "/batch"}'`),
    );
  });

  it('is, whatever changes in which order and however often it is sent, in the end what was committed last', async () => {
    const id = await running();
    const modes = fc.constantFrom('never', 'risky', 'always');
    const step = fc.oneof(
      fc.record({ kind: fc.constant('floor' as const), mode: modes, fourEyes: fc.boolean() }),
      fc.record({ kind: fc.constant('own' as const), mode: modes }),
      fc.record({ kind: fc.constant('tell' as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
        let [floor, own, fourEyes] = ['never', 'never', false];
        await settings({});
        await choose(id, 'never');
        const tell = async (): Promise<void> => {
          await job.enqueueAll('org-settings', { orgId: ORG }, never);
          await harness.addJob('conversation-deliver', id);
          await harness.start(id);
        };
        for (const one of steps) {
          if (one.kind === 'tell') await tell();
          else if (one.kind === 'own') {
            own = one.mode;
            await choose(id, own);
          } else {
            [floor, fourEyes] = [one.mode, one.fourEyes];
            await settings({ confirmation: floor, fourEyes });
          }
        }
        await tell();
        const order = ['never', 'risky', 'always'];
        const kind = ['NeverConfirm', 'ConfirmRisky', 'AlwaysConfirm'][
          Math.max(order.indexOf(floor), order.indexOf(own))
        ];
        expect(sent(id).at(-1)).toMatchObject({ policy: { kind }, organization: { floor, fourEyes } });
        const versions = sent(id).map(({ version }) => version);
        expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b));
      }),
      { numRuns: 15 },
    );
  });
});
