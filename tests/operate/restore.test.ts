import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { type SignedInClient, signIn, startPostgresServer, until } from '@slipway/testing';
import { describeUnless } from '@slipway/testing/jest';
import pg from 'pg';
import { freePortRange } from '../../deploy/local/free-ports.ts';
import { PORT_OFFSETS } from '../../deploy/local/settings.ts';
import { type Stack, startStack } from '../../deploy/local/stack.ts';
import { OpenStack } from '../stack/open-stack.ts';
import { finish, terminal } from '../stack/script-book.ts';
import { Talk } from '../stack/talk.ts';
import { runDocumented } from './documented.ts';
import { openPostgresClient } from './postgres-client.ts';

const PAGE = 'backup.md';
const client = await openPostgresClient();
const issuerAt = (port: number): string =>
  `http://localhost:${port + PORT_OFFSETS['embedded-identity']}/realms/slipway`;

jest.setTimeout(240_000);

describeUnless(typeof client === 'string' ? client : false)(
  'backup and restore, by the commands of docs/operate/backup.md',
  () => {
    const bin = typeof client === 'string' ? '' : client.folder;
    let open: OpenStack;
    let talk: Talk;
    let backup: string;
    /** What the log was when the earlier of the two dumps was taken. */
    let earlier: Talk['watcher']['log'];
    const run = (name: string, env: Readonly<Record<string, string>>): Promise<string> =>
      runDocumented(PAGE, name, { PATH: `${bin}${path.delimiter}${process.env['PATH']}`, ...env });

    beforeAll(async () => {
      open = await OpenStack.open();
      backup = path.join(open.folder, 'backup');
      await mkdir(path.join(backup, 'older'), { recursive: true });
    });
    afterAll(() => open.close());

    it('a dump by a role under row-level security fails, and by the documented role has every table', async () => {
      await open.query("CREATE ROLE under_rls LOGIN PASSWORD 'under_rls'");
      await open.query('GRANT pg_read_all_data TO under_rls');
      await expect(
        run('dump', { BACKUP: backup, BACKUP_URL: asRole(open.stack.ownerUrl, 'under_rls', 'under_rls') }),
      ).rejects.toThrow('row-level security policy');
      await run('role', { ADMIN_URL: open.stack.ownerUrl, BACKUP_PASSWORD: "of the backup's" });

      talk = await open.talk('first', [terminal('echo one > one.txt'), finish('One.')]);
      await talk.ended('finished');
      const tables = await run('dump', { BACKUP: path.join(backup, 'older'), BACKUP_URL: backupUrl() });
      earlier = [...talk.watcher.log];
      const [{ count } = { count: 0 }] = await open.query<{ count: number }>(
        "SELECT count(*)::int AS count FROM pg_tables WHERE schemaname IN ('app', 'runtime', 'gateway', 'bullmq')",
      );
      expect(Number(tables)).toBe(count);
    });

    it('restored by an owner who is no superuser into a fresh database and a fresh place: whole log, workspace files, and the next message is answered', async () => {
      const message = await talk.send(open.book.write('second', [terminal('echo two > two.txt'), finish('Two.')]));
      await talk.ended('finished', message);
      await talk.post('pause');
      await until('the workspace is put away', async () => (await talk.get()).sandboxStatus === 'PAUSED');
      // Before the dump: the state of the workspace may be written after it is paused.
      const { head } = await talk.get();
      await run('dump', { BACKUP: backup, BACKUP_URL: backupUrl() });
      await run('store', { BACKUP: backup, STORE: storeOf(open.stack.dataDirectory) });
      await until('the socket has all of the log', () => talk.watcher.lastSeq >= head);
      await open.stack.stop();

      await restored('whole', backup, async (again) => {
        await until('the restored log is read', () => again.watcher.lastSeq >= head);
        expect(again.watcher.log.slice(0, head)).toEqual(talk.watcher.log.slice(0, head));
        await expectGoesOn(again, 'third');
      });
    });

    it('an older database with a newer store: events missing in the log come back from the workspace, each once', async () => {
      const ids = talk.events.map(({ id }) => id);
      const newer = talk.watcher.log.slice(earlier.length).map(({ event }) => event);
      expect(newer.filter(({ kind }) => kind === 'ActionEvent').length).toBeGreaterThan(0);
      await cp(path.join(backup, 'workspaces'), path.join(backup, 'older/workspaces'), { recursive: true });

      await restored('older', path.join(backup, 'older'), async (again) => {
        await until('the restored log is read', () => again.watcher.lastSeq >= earlier.length);
        expect(again.watcher.log.slice(0, earlier.length)).toEqual(earlier);
        await expectGoesOn(again, 'fourth');
        // Events of the platform itself (states of the start and of the sandbox) are of the lost time; all messages of
        // agent and user are there.
        const said = (kind: string): boolean => ['MessageEvent', 'ActionEvent', 'ObservationEvent'].includes(kind);
        expect(again.events.filter(({ id, kind }) => said(kind) && ids.includes(id)).map(({ id }) => id)).toEqual(
          talk.events.filter(({ kind }) => said(kind)).map(({ id }) => id),
        );
      });
    });

    /** The same conversation answers, knows its files, and its log has no gap and nothing twice. */
    async function expectGoesOn(again: Talk, harness: string): Promise<void> {
      const next = await again.send(open.book.write(harness, [terminal('cat one.txt two.txt'), finish('Read.')]));
      await again.ended('finished', next);
      const [read] = again
        .of('ObservationEvent')
        .filter(({ observation }) => String(observation['command']).startsWith('cat one.txt'));
      expect(JSON.stringify(read?.observation)).toMatch(/one.*two/);
      await again.expectWholeLog();
    }

    async function restored(name: string, from: string, look: (again: Talk) => Promise<void>): Promise<void> {
      const folder = path.join(open.folder, name);
      const port = await freePortRange();
      const postgres = await startPostgresServer(path.join(folder, 'postgres'), 0, ['-c', 'fsync=off']);
      const ownerUrl = await databaseOfAnOwner(postgres.url);
      let stack: Stack | undefined;
      let again: Talk | undefined;
      try {
        const env = {
          OWNER_URL: ownerUrl,
          BACKUP: from,
          OLD_ISSUER: issuerAt(open.port),
          NEW_ISSUER: issuerAt(port),
          NEW_STORE: storeOf(path.join(folder, 'data')),
        };
        for (const step of ['roles', 'restore', 'fence', 'issuer', 'store-back']) await run(step, env);
        // The Secret of the release, and the identity provider's accounts.
        await mkdir(path.join(folder, 'data'), { recursive: true });
        await writeFile(
          path.join(folder, 'data/secrets.json'),
          await readFile(path.join(open.stack.dataDirectory, 'secrets.json')),
          { mode: 0o600 },
        );
        await cp(path.join(open.stack.dataDirectory, 'identity'), path.join(folder, 'data/identity'), {
          recursive: true,
        });
        stack = await startStack({
          port,
          dataDirectory: path.join(folder, 'data'),
          env: { ...open.env, DATABASE_URL: ownerUrl },
          log: () => {},
          signal: AbortSignal.timeout(120_000),
          without: ['web'],
        });
        const user: SignedInClient = await signIn(stack.url);
        expect(user.me.id).toBe(open.user.me.id);
        again = new Talk(stack.url, user, talk.orgId, talk.id);
        await look(again);
        expect(await epochOf(databaseUrl(postgres.url))).toBeGreaterThan(1000);
      } finally {
        again?.close();
        await stack?.stop();
        await postgres.stop();
        await rm(folder, { recursive: true, force: true });
      }
    }

    const backupUrl = (): string => asRole(open.stack.ownerUrl, 'slipway_backup', "of the backup's");
  },
);

/**
 * What a managed Postgres gives: a database of an owner who is no superuser, bypasses nothing, and has another name
 * than the one before. @returns the owner's URL.
 */
async function databaseOfAnOwner(adminUrl: string): Promise<string> {
  const admin = new pg.Client({ connectionString: adminUrl });
  await admin.connect();
  try {
    await admin.query("CREATE ROLE restorer LOGIN NOSUPERUSER NOBYPASSRLS CREATEROLE PASSWORD 'restorer'");
    await admin.query('CREATE DATABASE restored OWNER restorer');
  } finally {
    await admin.end();
  }
  return asRole(databaseUrl(adminUrl), 'restorer', 'restorer');
}

function databaseUrl(serverUrl: string): string {
  const url = new URL(serverUrl);
  url.pathname = '/restored';
  return url.href;
}

async function epochOf(url: string): Promise<number | undefined> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<{ epoch: number }>('SELECT epoch FROM app.conversation')).rows[0]?.epoch;
  } finally {
    await client.end();
  }
}

const storeOf = (dataDirectory: string): string => path.join(dataDirectory, 'sandboxes/workspaces');

function asRole(ownerUrl: string, role: string, password: string): string {
  const url = new URL(ownerUrl);
  url.username = role;
  url.password = password;
  return url.href;
}
