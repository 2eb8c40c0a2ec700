import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { until } from '@slipway/testing';
import { skipTest } from '@slipway/testing/jest';
import type { Deployment } from './fleet.ts';
import { writeNextVersion } from './next-version.ts';
import { OpenRolling } from './open-rolling.ts';
import type { Replica } from './replica.ts';

/** The advisory lock of the replica that leads the pools. */
const POOL_LOCK = 7_215_310;

jest.setTimeout(400_000);

describe('with two replicas of everything, two conversations at work and five requests a second', () => {
  let rolling: OpenRolling;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-next-'));
    rolling = await OpenRolling.open({ conversations: 2, perSecond: 5, stepSeconds: 0.7, standby: true });
  });
  afterAll(async () => {
    await rolling?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const expectNoneFailed = (): void => expect(rolling.load.take().failed).toEqual([]);

  /** The name of the replica of runtime-api that leads. */
  const leader = (): Promise<string> =>
    until('a replica leads the pools', async () => {
      const rows = await rolling.fleet.query<{ name: string }>(
        `SELECT a.application_name AS name FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE l.locktype = 'advisory' AND l.granted AND l.objid = ${POOL_LOCK}`,
      );
      return rows[0]?.name.replace(/^slipway-runtime-api |-lead$/g, '');
    });

  /** As with a Deployment: another one is started at once, and meanwhile the others have to do. */
  const goesOnWithout = async (name: Deployment, old: Replica | undefined): Promise<void> => {
    if (old === undefined) throw new Error(`no replica of ${name}`);
    await rolling.fleet.end(name, old, 'SIGKILL');
    await Promise.all([rolling.goesOn(`after a replica of ${name} was killed`), rolling.fleet.start(name)]);
  };

  it('the schema of the next version comes while this one runs', async () => {
    const names = await writeNextVersion(rolling.fleet, folder);
    expect(names.length).toBeGreaterThan(15);
    expect((await rolling.fleet.migrate(folder)).sort()).toEqual(names.sort());
    await rolling.goesOn('on the schema of the next version');
    expectNoneFailed();
  });

  it('the leader of the pools is killed: the other one leads, and a conversation starts', async () => {
    const name = await leader();
    const old = rolling.fleet.of('runtime-api').find((replica) => replica.name === name);
    if (old === undefined) throw new Error(`${name} leads and is none of the replicas`);
    await rolling.fleet.end('runtime-api', old, 'SIGKILL');
    await rolling.begin('without-the-leader');
    await rolling.goesOn('after the leader was killed');
    expect(await leader()).not.toBe(name);
    await rolling.fleet.start('runtime-api');
    expectNoneFailed();
  });

  it('each worker is killed in turn with jobs in its hands: the other one does them', async () => {
    for (const [index, old] of rolling.fleet.of('worker').entries()) {
      await rolling.begin(`worker-killed-${index}`);
      await goesOnWithout('worker', old);
    }
    expectNoneFailed();
  });

  it('a replica of each that people and agents call is killed: requests that are repeated are answered, sockets come back', async () => {
    for (const name of ['app-server', 'llm-gateway', 'sandbox-gateway', 'web'] as const)
      await goesOnWithout(name, rolling.fleet.of(name)[0]);
    expectNoneFailed();
  });

  it('Redis is emptied while a conversation starts: nothing is lost, and its start is queued again', async () => {
    if (rolling.redis === null) return skipTest('no redis-server on PATH: apt-get install redis-server');
    const { url } = rolling.redis;
    const begun = rolling.begin('redis-emptied');
    // Until the request is answered and after it: with the job or without, there is the outbox job.
    for (let settled = false; !settled; ) {
      await flushAll(url);
      settled = await Promise.race([
        begun.then(() => true),
        new Promise<false>((resolve) => setImmediate(() => resolve(false))),
      ]);
    }
    await flushAll(url);
    await rolling.goesOn('after Redis was emptied');
    expectNoneFailed();
  });

  it('the primary of Postgres is killed and its standby takes over: nothing that was acknowledged is lost', async () => {
    await rolling.fleet.failOver();
    await rolling.goesOn('on the new primary');
    await rolling.begin('on-the-new-primary');
    await rolling.goesOn('with a new conversation');
    expectNoneFailed();
  });

  it('and in the end every log is whole: each message once, each step once', async () => {
    expect(await rolling.finish()).toEqual([]);
    expectNoneFailed();
  });
});

/** Everything that Redis has goes. */
function flushAll(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write('FLUSHALL\r\n'));
    socket.once('error', reject);
    socket.once('data', (data) => {
      socket.destroy();
      if (data.toString().startsWith('+OK')) resolve();
      else reject(new Error(`Redis answered ${data.toString()}`));
    });
  });
}
