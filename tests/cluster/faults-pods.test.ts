import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { stopwatch, until } from '@slipway/testing';
import { missingForBuiltCluster } from '@slipway/testing/cluster';
import { describeUnless } from '@slipway/testing/jest';
import { failuresOf, type WantedSession } from './faults-load.ts';
import { cutOff } from './faults-partition.ts';
import { FaultWorld } from './faults-world.ts';

const POOL_SIZE = 4;
const OUTAGE_SECONDS = 8;
const PARTITION_SECONDS = process.env['SLIPWAY_LONG'] === '1' ? 30 : 12;
/** After a partition has ended, until what was there before works again. Milliseconds. */
const RECOVERY_MS = 5_000;
const missing = await missingForBuiltCluster();

describeUnless(missing)('what goes on in real pods while others fail', () => {
  let world: FaultWorld;
  beforeAll(async () => {
    world = await FaultWorld.open({ image: true, templates: (place) => [place.realTemplate('real', POOL_SIZE)] });
  });
  afterAll(() => world?.close());
  afterEach(async () => {
    await world.place.cluster.apiServer.start();
    await world.load.stopAll();
    console.log(`nothing left over after ${(await world.settles()).toFixed(1)} s`);
  });

  const taken = async (): Promise<WantedSession> => {
    const session = world.load.newSession();
    expect(failuresOf([await world.load.start(session)])).toEqual([]);
    return session;
  };
  /**
   * Runs a command in the session's sandbox. @returns its standard output. @throws when there is no answer in time, or
   * it is refused.
   */
  const run = async (
    { answer }: WantedSession,
    command: string,
    key = answer?.session_api_key ?? '',
    timeoutMs = 5_000,
  ): Promise<string> => {
    const response = await fetch(`${answer?.url}/api/bash/execute_bash_command`, {
      method: 'POST',
      headers: { 'x-session-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({ command, timeout: 30 }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (response.status !== 200) throw new Error(`${response.status}`);
    return ((await response.json()) as { stdout: string }).stdout ?? '';
  };

  it('keeps sessions and what they did when runtime-api is killed and started again, and each sandbox has its own tenant only', async () => {
    const [one, other] = [await taken(), await taken()];
    await run(one, 'echo mine > /workspace/note');
    const urls = [one.answer?.url, other.answer?.url];
    await world.replica.kill();
    expect(await run(one, 'cat /workspace/note; printf %s "$SLIPWAY_OWNER"')).toBe(`mine\n${one.mark}`);
    await world.replica.start();
    expect([(await world.load.look(one)).url, (await world.load.look(other)).url]).toEqual(urls);
    // The same request finds the same sandbox.
    expect(failuresOf([await world.load.start(one), await world.load.start(other)])).toEqual([]);
    expect([one.answer?.url, other.answer?.url]).toEqual(urls);
    expect(await run(other, 'ls /workspace; printf %s "$SLIPWAY_OWNER"')).toBe(other.mark);
    await expect(run(one, 'true', other.answer?.session_api_key)).rejects.toThrow('401');
    expect(failuresOf([await world.load.start(world.load.newSession())])).toEqual([]);
  });

  it('runs commands and gives out warm sandboxes while the API server is away', async () => {
    const { apiServer } = world.place.cluster;
    const session = await taken();
    await until('the pool is full', async () => (await world.count('ready', 'leased')) >= POOL_SIZE, 60_000);
    await apiServer.stop();
    const later: WantedSession[] = [];
    for (let second = 0; second < OUTAGE_SECONDS; second += 1) {
      expect(await run(session, `printf ${second}`)).toBe(String(second));
      if (second % 3 === 1) later.push(await taken());
      await wait(1_000);
    }
    for (const one of later) expect(await run(one, 'printf %s "$SLIPWAY_OWNER"')).toBe(one.mark);
    await apiServer.start();
    expect(await run(session, 'printf on')).toBe('on');
  });

  it('says so while no sandbox can be heard, gives nothing twice, and works again 5 s after', async () => {
    const session = await taken();
    await until('the pool is full', async () => (await world.count('ready', 'leased')) >= POOL_SIZE, 60_000);
    const range = (session.answer?.url ?? '').replace(/^http:\/\/(\d+\.\d+\.\d+)\..*$/, '$1.0/24');
    const heal = await cutOff(world.place.cluster, range);
    const unlucky = world.load.newSession();
    try {
      const began = performance.now();
      await expect(run(session, 'true', undefined, 2_000)).rejects.toThrow();
      const [outcome] = await Promise.all([world.load.start(unlucky), wait(PARTITION_SECONDS * 1_000)]);
      expect(failuresOf([outcome])).toEqual([expect.stringMatching(/50[23] sandbox\.(start-failed|no-capacity): /)]);
      console.log(
        `a caller was answered after ${(outcome.ms / 1_000).toFixed(1)} s: ${outcome.problem}; cut off for ${((performance.now() - began) / 1_000).toFixed(1)} s`,
      );
      await world.ledger.holds();
    } finally {
      await heal();
    }
    const passed = stopwatch();
    expect(
      await until('the session works again', () => run(session, 'printf again', undefined, 1_000), RECOVERY_MS),
    ).toBe('again');
    const known = passed();
    const outcome = await world.load.start(unlucky, performance.now(), true);
    expect(failuresOf([outcome])).toEqual([]);
    expect(await run(unlucky, 'printf %s "$SLIPWAY_OWNER"')).toBe(unlucky.mark);
    console.log(
      `the session works ${Math.round(known)} ms after, the one that was refused has its sandbox ${Math.round(passed())} ms after`,
    );
    expect(passed()).toBeLessThan(RECOVERY_MS);
  });

  it('reports to the session that its sandbox was killed, and gives it the next one with the reason', async () => {
    const session = await taken();
    const { rows } = await world.place.owner.query<{ pod_uid: string }>(
      'SELECT s.pod_uid FROM runtime.claim c JOIN runtime.slot s USING (slot_id) WHERE c.session_id = $1',
      [session.id],
    );
    await world.place.cluster.killContainer(rows[0]?.pod_uid ?? '', 'agent-server');
    const lost = await until('the loss is reported', async () => {
      const seen = await world.load.look(session);
      return seen.status === 'error' && seen;
    });
    expect(lost.status_detail).toMatch(/agent-server was killed \(SIGKILL\)/);
    expect(failuresOf([await world.load.start(session)])).toEqual([]);
    expect(await run(session, 'printf %s "$SLIPWAY_OWNER"')).toBe(session.mark);
  });
});
