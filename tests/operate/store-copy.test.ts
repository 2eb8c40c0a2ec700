import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { openS3Store, type WorkspaceStore } from '@slipway/sandbox/adapters/kubernetes';
import { openS3PackStore, PACK_PREFIX, type PackStore } from '@slipway/sandbox/packs';
import { startS3Server } from '@slipway/sandbox/testing';
import { describeUnless } from '@slipway/testing/jest';
import { runDocumented } from './documented.ts';

const PAGE = 'backup.md';
const PROGRAM = path.resolve(import.meta.dirname, '../../apps/runtime-api/dist/copy-workspaces/main.js');
const credentials = { accessKeyId: 'key', secretAccessKey: 'secret' };
const server = await startS3Server();

jest.setTimeout(120_000);

describeUnless(typeof server === 'string' ? server : false)(
  'a store of S3, backed up and restored by the commands of docs/operate/backup.md',
  () => {
    const { endpoint, bucket } = typeof server === 'string' ? { endpoint: '', bucket: '' } : server;
    const signal = AbortSignal.timeout(120_000);
    const urlOf = (prefix: string, at = bucket): string =>
      `s3://${at}/${prefix}?endpoint=${encodeURIComponent(endpoint)}&region=us-east-1`;
    const open = (prefix: string): Promise<WorkspaceStore> =>
      openS3Store({ endpoint, bucket, prefix: `${prefix}/`, region: 'us-east-1', pathStyle: true, credentials });
    let folder: string;
    const run = (step: string, env: Readonly<Record<string, string>>): Promise<string> =>
      runDocumented(PAGE, step, {
        AWS_ACCESS_KEY_ID: 'key',
        AWS_SECRET_ACCESS_KEY: 'secret',
        SLIPWAY: folder,
        PATH: process.env['PATH'] ?? '',
        ...env,
      });
    const openPacks = (prefix: string): Promise<PackStore> =>
      openS3PackStore({
        ...{ endpoint, bucket, prefix: `${prefix}/${PACK_PREFIX}`, region: 'us-east-1', pathStyle: true, credentials },
      });
    const packsOf = async (prefix: string): Promise<Record<string, string>> => {
      const store = await openPacks(prefix);
      const found: Record<string, string> = {};
      for await (const pack of store.list(null, signal)) {
        const stream = await store.get(pack, null, signal);
        found[`${pack.orgId}/${pack.packId}`] = stream === null ? '' : (await buffer(stream)).toString('base64');
      }
      return found;
    };
    /** Everything in a store, by name and part. */
    const contents = async (prefix: string): Promise<Record<string, string | null>> => {
      const store = await open(prefix);
      const found: Record<string, string | null> = {};
      for (const name of [...(await store.list(signal))].sort())
        for (const part of ['workspace', 'conversations'] as const) {
          const stream = await store.get(name, part, signal);
          found[`${name}/${part}`] = stream === null ? null : (await buffer(stream)).toString('base64');
        }
      return found;
    };

    beforeAll(async () => {
      folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-store-'));
      // As it lies in the image of runtime-api.
      await writeFile(
        path.join(folder, 'copy-workspaces.js'),
        `import(${JSON.stringify(pathToFileURL(PROGRAM).href)});\n`,
      );
      const store = await open('lost');
      for (let index = 0; index < 9; index += 1) {
        await store.put(`sb-${index}`, 'workspace', Readable.from([Buffer.alloc(index * 100_000, index)]), signal);
        if (index % 2 === 0)
          await store.put(`sb-${index}`, 'conversations', Readable.from([Buffer.from(`log ${index}`)]), signal);
      }
      await store.mark('sb-blank', signal);
      const packs = await openPacks('lost');
      for (let index = 0; index < 7; index += 1) {
        const pack = { orgId: `org_${index % 2}`, packId: String(index).repeat(32) };
        await packs.put(pack, Readable.from([Buffer.alloc(1 + index * 100_000, index)]), signal);
      }
    });
    afterAll(async () => {
      if (typeof server !== 'string') await server.close();
      await rm(folder, { recursive: true, force: true });
    });

    it('comes back into a fresh place whole: each workspace with its parts, blank ones too', async () => {
      const before = await contents('lost');
      expect(Object.keys(before)).toHaveLength(20);
      const said = await run('store-s3', { STORE_URL: urlOf('lost'), BACKUP_URL_OF_STORE: urlOf('backup') });
      expect(said).toContain('10 workspaces');
      await run('store-s3-back', { BACKUP_URL_OF_STORE: urlOf('backup'), NEW_STORE_URL: urlOf('fresh') });
      expect(await contents('fresh')).toEqual(before);
      // What was copied from is as it was.
      expect(await contents('lost')).toEqual(before);
    });

    it('comes back with every pack, of which the next backup copies the new ones only', async () => {
      const before = await packsOf('lost');
      expect(Object.keys(before)).toHaveLength(7);
      expect(await packsOf('fresh')).toEqual(before);
      const pack = { orgId: 'org_2', packId: 'a'.repeat(32) };
      await (await openPacks('lost')).put(pack, Readable.from([Buffer.from('new')]), signal);
      const said = await run('store-s3', { STORE_URL: urlOf('lost'), BACKUP_URL_OF_STORE: urlOf('backup') });
      expect(said).toContain('1 packs that were not there, 3 bytes');
      expect(await packsOf('backup')).toEqual(await packsOf('lost'));
    });

    it('is copied to a folder and back just as well, and a second copy changes nothing', async () => {
      const file = pathToFileURL(path.join(folder, 'kept')).href;
      await run('store-s3', { STORE_URL: urlOf('lost'), BACKUP_URL_OF_STORE: file });
      await run('store-s3', { STORE_URL: urlOf('lost'), BACKUP_URL_OF_STORE: file });
      await run('store-s3-back', { BACKUP_URL_OF_STORE: file, NEW_STORE_URL: urlOf('from-file') });
      expect(await contents('from-file')).toEqual(await contents('lost'));
    });

    it('ends with a failure and the names when the target takes nothing', async () => {
      const failing = run('store-s3', {
        STORE_URL: urlOf('lost'),
        BACKUP_URL_OF_STORE: urlOf('backup', 'no-such-bucket'),
      });
      await expect(failing).rejects.toThrow(/0 workspaces, 0 bytes; not copied: sb-0, sb-1/);
    });
  },
);
