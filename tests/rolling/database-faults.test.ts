import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SilentProxy, until } from '@slipway/testing';
import pg from 'pg';
import { OpenStack } from '../stack/open-stack.ts';
import { finish, terminal } from '../stack/script-book.ts';
import type { Talk } from '../stack/talk.ts';
import { DatabasePair } from './database-pair.ts';
import { asOwner, recovery, recoveryTable, type Watched } from './database-recovery.ts';
import { SandboxSocket } from './sandbox-socket.ts';

/**
 * Longest until everything works again, from the end of the fault. Milliseconds; 10 s are what is promised on an idle
 * machine, and one query of 10 s may be under way.
 */
const BACK_MS = 60_000;
const SHORT_CUT_MS = 5_000;
const LONG_CUT_MS = 60_000;

describe('Postgres fails under every process of the platform, with a conversation at work', () => {
  let folder: string;
  let pair: DatabasePair;
  /** Every process reaches Postgres through it. */
  let proxy: SilentProxy;
  let open: OpenStack;
  let talk: Talk;
  let socket: SandboxSocket;
  let watched: Watched;
  let ending = false;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-database-'));
    pair = await DatabasePair.start(folder);
    proxy = await SilentProxy.open(pair.url);
    open = await OpenStack.open({
      env: { DATABASE_URL: proxy.url, POOL_TARGET: '1', SANDBOX_GATEWAY_GRACE_SECONDS: '5' },
    });
    talk = await open.talk('counts', () =>
      ending ? finish() : terminal('sleep 0.3; echo step >> steps.txt; wc -l < steps.txt'),
    );
    await until('the agent works', () => talk.of('ObservationEvent').length > 1, 60_000);
    socket = await SandboxSocket.open(open.user, talk.path, talk.id);
    watched = { open, user: open.user, talk, socket, ownerUrl: () => pair.url };
    await recovery(watched, BACK_MS);
  });
  afterAll(async () => {
    proxy?.heal();
    socket?.close();
    await open?.close();
    await proxy?.close();
    await pair?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Makes the fault, and prints how long each thing took to be back. */
  const fails = async (fault: string, make: () => Promise<void>): Promise<void> => {
    await make();
    process.stderr.write(recoveryTable(fault, await recovery(watched, BACK_MS)));
  };
  const endBackends = (where: string): Promise<number> =>
    asOwner(pair.url, async (client) => {
      const { rowCount } = await client.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend' AND ${where}`,
      );
      return rowCount ?? 0;
    });
  const workerReady = async (): Promise<{ status: number; reason?: string }> => {
    const response = await fetch(`${open.addressOf('worker')}/ready`, { signal: AbortSignal.timeout(5_000) });
    // The answer has a `status` of its own, in words.
    const { reason } = (await response.json()) as { reason?: string };
    return { status: response.status, ...(reason === undefined ? {} : { reason }) };
  };

  it('the lock connection of the worker alone is ended', () =>
    fails('worker-locks ended', async () => expect(await endBackends("application_name = 'worker-locks'")).toBe(1)));

  it('every connection is ended', () =>
    fails('every backend ended', async () => expect(await endBackends('true')).toBeGreaterThan(10)));

  it('Postgres restarts', () => fails('restart', () => pair.restart()));

  it('the network is cut for 5 s, without a word', () =>
    fails('cut of 5 s, silent', async () => {
      proxy.silence();
      await wait(SHORT_CUT_MS);
      proxy.heal();
    }));

  it('the network refuses every connection for 5 s', () =>
    fails('cut of 5 s, refused', async () => {
      proxy.refuse();
      await wait(SHORT_CUT_MS);
      proxy.heal();
    }));

  it('the network is cut for 60 s, without a word', () =>
    fails('cut of 60 s, silent', async () => {
      proxy.silence();
      await wait(LONG_CUT_MS);
      proxy.heal();
    }));

  it('a sweep that does not run is named by the worker, which is not ready until it runs', async () => {
    const holder = new pg.Client({ connectionString: pair.url });
    await holder.connect();
    try {
      await until('the test has the lock of the sweeps', async () => {
        const { rows } = await holder.query<{ got: boolean }>(
          `SELECT pg_try_advisory_lock(hashtextextended('sweeps', 7)) AS got`,
        );
        if (rows[0]?.got !== true) await endBackends("application_name = 'worker-locks'");
        return rows[0]?.got === true;
      });
      const began = performance.now();
      const { reason } = await until(
        'it says so',
        async () => {
          const answer = await workerReady();
          return answer.reason?.startsWith('no worker has completed') === true && answer;
        },
        45_000,
      );
      process.stderr.write(
        `a lead without a holder: ${reason} (said after ${((performance.now() - began) / 1_000).toFixed(0)} s)\n`,
      );
      expect(reason).toMatch(/^no worker has completed the sweep (outbox|recovery) for \d+ s/);
      expect(reason).not.toMatch(/usage/);
    } finally {
      await holder.end();
    }
    await until('it is ready again', async () => (await workerReady()).status === 200, 30_000);
  });

  it('the primary is killed and its standby promoted', () =>
    fails('promotion of the standby', async () => {
      await pair.failOver();
      proxy.pointTo(pair.url);
    }));

  it('and in the end the log is whole, and each step was made once', async () => {
    ending = true;
    await talk.ended('finished', undefined, 60_000);
    await talk.expectWholeLog();
    expect(talk.printedNumbers.length).toBeGreaterThan(5);
    expect(talk.printedNumbers).toEqual(talk.printedNumbers.map((_, index) => index + 1));
  });
});
