import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createPool, type SqlPool } from '@slipway/db/sql';
import { Pool } from 'undici';
import { openLoop } from './open-loop.ts';
import { percentile, timeEach } from './percentile.ts';
import { quick } from './quick.ts';
import { startScript } from './service-process.ts';

/**
 * p50 of one such commit followed by two such POSTs, all of it `perSecond` times a second by a Poisson schedule that
 * does not wait: a machine that idles in between needs longer to wake up its processors than one that is kept busy.
 * Milliseconds.
 */
export async function pacedFloor(ownerUrl: string, perSecond: number, n = quick(500, 20)): Promise<number> {
  const server = await startScript('./stub-upstream.ts');
  const posts = new Pool(server.url, { connections: 8 });
  const pool = createPool({ url: ownerUrl, max: 8, applicationName: 'bench-floor', onError: () => {} });
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x'.repeat(400) }] });
  const post = async (): Promise<void> => {
    const response = await posts.request({
      path: '/',
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    await response.body.arrayBuffer();
  };
  try {
    await fillFloorTable(pool);
    const once = async (index: number): Promise<void> => {
      await commitOnce(pool, index);
      await post();
      await post();
    };
    await openLoop(perSecond, quick(100, 5), once);
    return percentile(await openLoop(perSecond, n, once), 0.5);
  } finally {
    await pool.query('DROP TABLE IF EXISTS public.bench_floor').catch(() => {});
    await pool.end();
    await posts.close();
    await server.stop();
  }
}

async function fillFloorTable(pool: SqlPool): Promise<void> {
  await pool.query(
    "CREATE TABLE public.bench_floor (id int PRIMARY KEY, v int NOT NULL, pad text NOT NULL DEFAULT repeat('x', 200))",
  );
  await pool.query('INSERT INTO public.bench_floor (id, v) SELECT g, 0 FROM generate_series(1, 1000) g');
}

function commitOnce(pool: SqlPool, index: number): Promise<unknown> {
  return pool.query({
    name: 'floor',
    text: 'UPDATE public.bench_floor SET v = v + 1 WHERE id = $1',
    values: [1 + ((index * 7) % 1000)],
  });
}

/**
 * p50 of one single-row UPDATE with synchronous commit, over loopback. Milliseconds. `ownerUrl`: a database that may be
 * written to; its table is dropped again.
 */
export async function commitFloor(ownerUrl: string, n = quick(1_000, 50)): Promise<number> {
  const pool = createPool({ url: ownerUrl, max: 1, applicationName: 'bench-floor', onError: () => {} });
  try {
    await fillFloorTable(pool);
    const { rows } = await pool.query<{ synchronous_commit: string }>('SHOW synchronous_commit');
    if (rows[0]?.synchronous_commit !== 'on')
      throw new Error(`synchronous_commit is ${rows[0]?.synchronous_commit}: this would be no floor`);
    return percentile(await timeEach(n, (index) => commitOnce(pool, index)), 0.5);
  } finally {
    await pool.query('DROP TABLE IF EXISTS public.bench_floor').catch(() => {});
    await pool.end();
  }
}

/** p50 of a keep-alive POST of 0.45 kB to a bare node:http server in another process, over loopback. Milliseconds. */
export async function loopbackFloor(n = quick(1_000, 50)): Promise<number> {
  const server = await startScript('./stub-upstream.ts');
  const pool = new Pool(server.url, { connections: 1 });
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x'.repeat(400) }] });
  try {
    const once = async (): Promise<void> => {
      const response = await pool.request({
        path: '/',
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
      await response.body.arrayBuffer();
    };
    return percentile(await timeEach(n, once), 0.5);
  } finally {
    await pool.close();
    await server.stop();
  }
}

/** p50 of a write of 200 bytes followed by fdatasync, in a directory (the system's temporary one). Milliseconds. */
export async function fdatasyncFloor(directory = os.tmpdir(), n = quick(1_000, 50)): Promise<number> {
  const own = mkdtempSync(path.join(directory, 'slipway-floor-'));
  const file = openSync(path.join(own, 'log'), 'a');
  const line = Buffer.alloc(200, 0x78);
  try {
    return percentile(
      await timeEach(n, async () => {
        writeSync(file, line);
        fdatasyncSync(file);
      }),
      0.5,
    );
  } finally {
    closeSync(file);
    rmSync(own, { recursive: true, force: true });
  }
}
