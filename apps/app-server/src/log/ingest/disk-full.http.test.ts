import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, open, rm, statfs, unlink } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, jest } from '@jest/globals';
import { startPostgresServer, until } from '@slipway/testing';
import { skipTest } from '@slipway/testing/jest';
import { ConversationApp, thought } from '../../testing/conversation-app.js';

/** Of the small disk: the server and its log of changes, a template and a copy of it, and something to fill. */
const DISK = '400m';
/** Of one event. Bytes; some of them need more room than the last pages of the tables have. */
const EVENT_BYTES = 20_000;

jest.setTimeout(300_000);

describe('a full disk under Postgres', () => {
  it('refuses what has no room with 503 and the time to come back, keeps no part of it, still reads, and goes on when there is room', async () => {
    const disk = await mkdtemp('/tmp/slipway-small-disk-');
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK}`, 'tmpfs', disk], { stdio: 'pipe' });
    } catch {
      await rm(disk, { recursive: true });
      return skipTest('a small file system can only be mounted by root');
    }
    await chmod(disk, 0o755);
    const shared = process.env['TEST_POSTGRES_URL'];
    const server = await startPostgresServer(path.join(disk, 'postgres'), 0, [
      '-c',
      'fsync=off',
      '-c',
      'max_wal_size=64MB',
      '-c',
      'autovacuum=off',
    ]);
    process.env['TEST_POSTGRES_URL'] = server.url;
    const ballast = path.join(disk, 'ballast');
    let app: ConversationApp | undefined;
    try {
      const running = await ConversationApp.start();
      app = running;
      const user = await running.user();
      const { id } = await running.conversation(user);
      await running.started(id);
      const stored: string[] = [];
      const batch = (from: number): Array<{ producerSeq: number; event: ReturnType<typeof thought> }> =>
        Array.from({ length: 10 }, (_, index) => ({
          producerSeq: from + index,
          event: thought(randomText(), randomUUID()),
        }));
      const first = batch(1);
      expect((await running.ingest(user, id, first)).status).toBe(200);
      stored.push(...first.map(({ event }) => event.id));

      await fill(disk, ballast);
      let refused = batch(stored.length + 1);
      const answer = await until('a batch that has no room', async () => {
        const now = await running.ingest(user, id, refused);
        if (now.status !== 200) return now;
        stored.push(...refused.map(({ event }) => event.id));
        refused = batch(stored.length + 1);
        return null;
      });
      expect([answer.status, answer.body]).toMatchObject([503, { code: 'service.unavailable', retry: 'later' }]);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      expect((await running.log(id)).map(({ event }) => event.id)).toEqual(stored);
      const page = await running.http<{ data: Array<{ event: { id: string } }> }>(
        user,
        'GET',
        running.path(user, id, '/events?limit=1000'),
      );
      expect(page.body.data.map(({ event }) => event.id)).toEqual(stored);
      const prompt = randomText().repeat(4);
      const created = await until('a conversation that has no room', async () => {
        const now = await running.http<{ code?: string; detail?: string }>(user, 'POST', running.path(user), {
          prompt,
        });
        return now.status === 201 ? null : now;
      });
      expect([created.status, created.body]).toMatchObject([
        503,
        { code: 'service.unavailable', detail: expect.stringContaining('room') },
      ]);
      expect(Number(created.headers.get('retry-after'))).toBeGreaterThan(0);

      await unlink(ballast);
      expect((await running.ingest(user, id, refused)).body).toMatchObject({ ackedProducerSeq: stored.length + 10 });
      stored.push(...refused.map(({ event }) => event.id));
      expect((await running.log(id)).map(({ seq, event }) => [seq, event.id])).toEqual(
        stored.map((event, index) => [index + 1, event]),
      );
      expect((await running.http(user, 'POST', running.path(user), { prompt })).status).toBe(201);
    } finally {
      await unlink(ballast).catch(() => {});
      await app?.close();
      if (shared === undefined) delete process.env['TEST_POSTGRES_URL'];
      else process.env['TEST_POSTGRES_URL'] = shared;
      await server.stop();
      execFileSync('umount', ['-l', disk]);
      await rm(disk, { recursive: true, force: true });
    }
  });
});

/** Does not get smaller when it is compressed. */
function randomText(): string {
  return Array.from({ length: EVENT_BYTES / 40 }, () => randomUUID()).join('');
}

/** Takes all the room that is left. */
async function fill(disk: string, file: string): Promise<void> {
  const handle = await open(file, 'w');
  try {
    for (const size of [1024 * 1024, 4096]) {
      const block = Buffer.alloc(size);
      while ((await statfs(disk)).bavail * 4096 >= size) await handle.write(block);
    }
  } finally {
    await handle.close();
  }
}
