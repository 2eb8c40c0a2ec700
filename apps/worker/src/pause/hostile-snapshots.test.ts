import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { createPool, inOrg, type SqlPool } from '@slipway/db/sql';
import { ReadSlots } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import { createLogger } from '@slipway/telemetry';
import { type TestDatabase, until } from '@slipway/testing';
import { agentAt } from '../clients/agent-server.js';
import { SandboxReads, SNAPSHOTS } from '../clients/sandbox-reads.js';
import { queueDatabase } from '../testing/harness.js';
import { Snapshots } from './snapshot.js';

const MIB = 1024 * 1024;
/** Six snapshots of 64 MiB, and what V8 has not collected yet. MiB; the worker has 768. */
const MOST_MIB = 500;
/** Large patches of two-byte characters, endless ones, and ones that never end, by the first part of the path. */
const PROGRAM = `
import { createServer } from 'node:http';
const large = 'ж'.repeat(${(7.5 * MIB) / 2});
const piece = Buffer.alloc(65536, 65);
createServer((request, response) => {
  if (request.url.includes('/api/git/changes')) return response.end('[]');
  if (request.url.startsWith('/large')) return response.end(large);
  if (request.url.startsWith('/stalls')) return response.write(piece);
  const more = () => { while (!response.destroyed && response.write(piece)); };
  response.on('drain', more); more();
}).listen(0, '127.0.0.1', function () { console.log(this.address().port); });
`;

jest.setTimeout(120_000);

describe('snapshots of hostile workspaces', () => {
  let database: TestDatabase;
  let pool: SqlPool;
  let child: ChildProcess;
  let url: string;
  const logger = createLogger('worker-test', 'silent');
  const signal = AbortSignal.timeout(110_000);

  beforeAll(async () => {
    database = await queueDatabase();
    pool = createPool({ url: database.urls.app, max: 8, applicationName: 'worker-test', onError: () => {} });
    child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [port] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
    url = `http://127.0.0.1:${String(port).trim()}`;
  });
  afterAll(async () => {
    child?.kill('SIGKILL');
    await pool?.end();
    await database?.close();
  });

  async function conversation(orgId: string): Promise<string> {
    const id = randomUUID();
    await inOrg(pool, orgId, (client) =>
      client.query(
        `INSERT INTO app.conversation (id, org_id, created_by, created_by_label, title, model) VALUES ($1, $2, 'usr_a', 'A', 'T', 'demo')`,
        [id, orgId],
      ),
    );
    return id;
  }
  const look = async (
    snapshots: Snapshots,
    orgId: string,
    kind: string,
    within: AbortSignal = signal,
  ): Promise<string> => {
    const agent = agentAt({ url: `${url}/${kind}`, sessionKey: 'k', appKey: 'app-key' });
    const id = await conversation(orgId);
    return snapshots.take(orgId, id, { agent, workspace: { directory: '/workspace', base: null } }, within).then(
      () => 'kept',
      (error: unknown) => (error instanceof SlipwayError ? error.code : String(error)),
    );
  };

  it('take no more memory than their budget, sixty at once, and each ends kept or to be tried again: no crash', async () => {
    const slots = new ReadSlots({ ...SNAPSHOTS, waitMs: 60_000 });
    const snapshots = new Snapshots(pool, logger, new SandboxReads(slots));
    const before = process.memoryUsage().rss;
    let highest = before;
    const sampler = setInterval(() => {
      highest = Math.max(highest, process.memoryUsage().rss);
      expect(slots.usage.slots).toBeLessThanOrEqual(SNAPSHOTS.slots);
      expect(slots.usage.bytes).toBeLessThanOrEqual(SNAPSHOTS.bytes);
    }, 10);
    const ends = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        look(snapshots, `org_${index % 10}`, index % 2 === 0 ? 'large' : 'endless'),
      ),
    );
    clearInterval(sampler);
    console.log(`memory +${((highest - before) / MIB).toFixed(0)} MiB`);
    expect((highest - before) / MIB).toBeLessThan(MOST_MIB);
    expect(new Set(ends)).toEqual(new Set(['kept']));
    const { rows } = await inOrg(pool, 'org_1', (client) =>
      client.query<{ patch: string }>('SELECT patch FROM app.workspace_snapshot'),
    );
    expect(rows.map(({ patch }) => patch.slice(0, 36))).toEqual(Array(6).fill('# The changes are larger than 8 MiB.'));
    expect(slots.usage).toEqual({ slots: 0, waiting: 0, bytes: 0 });
  });

  it('of one organization that answer never hold up another, and its own further ones are shed with a code that says later', async () => {
    const slots = new ReadSlots({ ...SNAPSHOTS, waitMs: 200 });
    const snapshots = new Snapshots(pool, logger, new SandboxReads(slots));
    const hanging = new AbortController();
    const attacks = Array.from({ length: 8 }, () => look(snapshots, 'org_hostile', 'stalls', hanging.signal));
    expect(await look(snapshots, 'org_modest', 'large')).toBe('kept');
    const ends: string[] = [];
    for (const attack of attacks) void attack.then((end) => ends.push(end));
    await until('all that found no slot are shed', () => ends.length === 6);
    expect(ends).toEqual(Array(6).fill('service.unavailable'));
    hanging.abort(new Error('over'));
    expect((await Promise.all(attacks)).filter((end) => end === 'Error: over')).toHaveLength(2);
    expect(slots.usage).toEqual({ slots: 0, waiting: 0, bytes: 0 });
  });
});
