import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { until } from '@slipway/testing';
import { ClaimReplicas } from './claim-replicas.ts';

/** Sessions started; SLIPWAY_CLAIMS=100000 takes up to an hour. */
const CLAIMS = Number(process.env['SLIPWAY_CLAIMS'] ?? 500);
/**
 * Starts a second, by an open-loop schedule while fewer than `MOST_UNDER_WAY` are under way: a machine that cannot keep
 * up must not be asked for ever more.
 */
const PER_SECOND = Number(process.env['SLIPWAY_CLAIMS_PER_SECOND'] ?? 30);
const MOST_UNDER_WAY = 300;
const REPLICAS = 3;
const ORGS = 20;
/** Of a lease, in seconds: a replica that is stopped for longer comes back when all that it held belongs to another. */
const LEASE_SECONDS = 2;
/** Longest that a sandbox may be without owner, or an owner without sandbox. Milliseconds. */
const ORPHAN_MS = 60_000;
/** One in so many sessions is not stopped again. */
const KEPT = 25;

jest.setTimeout(300_000 + (2 * CLAIMS * 1_000) / PER_SECOND);

describe('claims while replicas are killed and stopped', () => {
  let world: ClaimReplicas;
  beforeAll(async () => {
    world = await ClaimReplicas.start(REPLICAS, 60, LEASE_SECONDS);
  });
  afterAll(() => world?.close());

  /**
   * Kills or stops one of them after the other; two are always there, one of them perhaps in the middle of something.
   * @returns a function that ends it and waits until all of them run.
   */
  function accidents(): () => Promise<void> {
    let on = true;
    const done = (async () => {
      while (on) {
        const victim = Math.floor(Math.random() * REPLICAS);
        if (Math.random() < 0.6) await world.kill(victim);
        else await world.stop(victim, 300 + Math.random() * LEASE_SECONDS * 2_000);
        await wait(300 + Math.random() * 1_000);
      }
    })();
    return async () => {
      on = false;
      await done;
    };
  }

  it('F3: a replica that was stopped for longer than its leases goes on with what is there, not with what it held', async () => {
    const held = async (): Promise<string[]> => {
      const { rows } = await world.owner.query<{ slot_id: string }>(
        `SELECT slot_id FROM runtime.slot WHERE state = 'ready' AND holder = $1 AND lease_until > now()`,
        [`replica-${world.replicas[0]?.process.pid}`],
      );
      return rows.map((row) => row.slot_id);
    };
    await until('it holds slots', async () => (await held()).length > 0);
    // A request is on its way into it when it stops.
    const stopped = world.stop(0, LEASE_SECONDS * 2_000);
    const caught = world.once(0, '/start', 'caught', { session_id: 'caught' });
    const others = Array.from({ length: 80 }, (_, index) =>
      world.insist('/start', 'busy', { session_id: `busy-${index}` }),
    );
    await until('its leases are over', async () => (await held()).length === 0);
    await stopped;
    const answers = [...(await Promise.all(others)), await world.insist('/start', 'caught', { session_id: 'caught' })];
    await caught;
    const after = await Promise.all(
      Array.from({ length: 10 }, (_, index) => world.once(0, '/start', 'after', { session_id: `after-${index}` })),
    );
    expect(after.map((answer) => answer?.status)).toEqual(after.map(() => 200));
    const urls = [...answers, ...after.flatMap((answer) => (answer === null ? [] : [answer]))].map(
      (answer) => answer.body.url,
    );
    expect(new Set(urls).size).toBe(urls.length);
    expect(world.farm.history.filter((event) => event.kind === 'refused')).toEqual([]);
  });

  it('F16: fifty times the same request to all replicas, while they are killed, is one sandbox', async () => {
    const end = accidents();
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => world.insist('/start', 'same', { session_id: 'same', environment: { A: '1' } })),
    );
    await end();
    expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 200));
    expect(new Set(answers.map((answer) => `${answer.body.url} ${answer.body.session_api_key}`)).size).toBe(1);
    expect(await world.count(`SELECT 1 FROM runtime.claim WHERE org_id = 'same' AND ended_at IS NULL`)).toBe(1);
    const other = await world.insist('/start', 'same', { session_id: 'same', environment: { A: '2' } });
    expect(other).toMatchObject({ status: 422, body: { code: 'idempotency.mismatch' } });
  });

  it(`F2: ${CLAIMS} claims: every caller gets a sandbox of his own, and keeps it`, async () => {
    const end = accidents();
    const owners = new Map<string, string>();
    const kept = new Map<string, { org: string; url: string }>();
    const wrong: string[] = [];
    let answered = 0;
    const one = async (index: number): Promise<void> => {
      const org = `org-${index % ORGS}`;
      const session_id = `session-${index}`;
      const { status, body } = await world.insist('/start', org, { session_id });
      if (status !== 200 || body.status !== 'running')
        return void wrong.push(`${session_id} was answered ${status} ${JSON.stringify(body)}`);
      answered += 1;
      const other = owners.get(body.url);
      if (other !== undefined) wrong.push(`${body.url} is ${session_id}'s and ${other}'s`);
      owners.set(body.url, session_id);
      const again = await world.insist('/start', org, { session_id });
      if (again.body.url !== body.url) wrong.push(`${session_id} was given ${body.url}, then ${again.body.url}`);
      if (index % KEPT === 0) return void kept.set(session_id, { org, url: body.url });
      const stopped = await world.insist('/stop', org, { runtime_id: body.runtime_id });
      if (stopped.status !== 200) wrong.push(`${session_id} could not be stopped: ${stopped.status}`);
    };
    const began = performance.now();
    let at = began;
    let underWay = 0;
    const all: Array<Promise<void>> = [];
    for (let index = 0; index < CLAIMS; index += 1) {
      at += (-Math.log(1 - Math.random()) * 1_000) / PER_SECOND;
      await wait(Math.max(0, at - performance.now()));
      while (underWay >= MOST_UNDER_WAY) await wait(20);
      underWay += 1;
      all.push(
        one(index)
          .catch((error: unknown) => void wrong.push(`session-${index}: ${String(error)}`))
          .finally(() => {
            underWay -= 1;
          }),
      );
      // Nothing that comes after would make it right.
      if (wrong.length > 20) break;
    }
    await Promise.all(all);
    const seconds = (performance.now() - began) / 1_000;
    await end();
    console.log(`${CLAIMS} claims in ${seconds.toFixed(0)} s under ${world.kills} kills and ${world.stops} stops`);
    expect(wrong).toEqual([]);
    expect(answered).toBe(CLAIMS);
    expect(world.kills + world.stops).toBeGreaterThan(3);
    const { rows } = await world.owner.query<{ session_id: string; url: string; status: string }>(
      `SELECT session_id, url, status FROM runtime.session WHERE session_id = ANY ($1)`,
      [[...kept.keys()]],
    );
    expect(rows.length).toBe(kept.size);
    for (const row of rows)
      expect(row).toEqual({ session_id: row.session_id, url: kept.get(row.session_id)?.url, status: 'running' });
  });

  it('no sandbox was ever offered to a second owner', () => {
    const claims = new Map<string, string>();
    for (const event of world.farm.history) {
      if (event.kind === 'refused') throw new Error(`${event.name} refused an activation with ${event.status}`);
      if (event.kind !== 'activated') continue;
      expect(claims.get(event.uid) ?? event.claimId).toBe(event.claimId);
      claims.set(event.uid, event.claimId);
    }
    expect(claims.size).toBeGreaterThanOrEqual(CLAIMS);
  });

  it('60 s later no sandbox is without owner, no owner without sandbox, no claim waits, and every organization is counted right', async () => {
    const differences = async (): Promise<string[]> => {
      const { rows: slots } = await world.owner.query<{ pod_name: string; state: string; claim_id: string | null }>(
        `SELECT pod_name, state, claim_id FROM runtime.slot WHERE state <> 'gone'`,
      );
      const known = new Map(slots.map((slot) => [slot.pod_name, slot]));
      const found = [...world.farm.sandboxes.keys()]
        .filter((name) => !known.has(name))
        .map((name) => `${name} has no row`);
      for (const { pod_name, state, claim_id } of slots) {
        const owner = world.farm.sandboxes.get(pod_name)?.latch.claimId;
        if (!['ready', 'active'].includes(state) || owner !== claim_id)
          found.push(`${pod_name} is ${state} and ${claim_id}'s, its sandbox ${owner}'s`);
      }
      const usage = await world.owner.query<{ org_id: string }>(
        `SELECT u.org_id FROM runtime.org_usage u WHERE u.in_use <> (SELECT coalesce(sum(c.cost), 0) FROM runtime.claim c WHERE c.org_id = u.org_id AND c.ended_at IS NULL)`,
      );
      const left = await world.count(
        'SELECT org_id FROM runtime.waiting UNION ALL SELECT org_id FROM runtime.sandbox_note',
      );
      return [
        ...found,
        ...usage.rows.map((row) => `${row.org_id} is counted wrong`),
        ...(left === 0 ? [] : [`${left} places or notes are left`]),
      ];
    };
    await until('all agree', async () => (await differences()).length === 0, ORPHAN_MS).catch(
      async (error: unknown) => {
        throw new Error((await differences()).slice(0, 20).join('\n'), { cause: error });
      },
    );
  });
});
