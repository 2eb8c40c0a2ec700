import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { ListMultipartUploadsCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type S3Server, startS3Server } from '../adapters/kubernetes/archive/testing/s3-server.js';
import { openWorkspaceStore } from '../adapters/kubernetes/index.js';
import { type S3Fault, S3LikeServer } from '../testing/s3-like-server.js';
import { openPackStore } from './open-pack-store.js';
import type { PackStore } from './pack-store.js';
import { openS3PackStore } from './s3-pack-store.js';
import { address, describePackStore, sourceOf } from './testing/pack-store.contract.js';

const credentials = { accessKeyId: 'key', secretAccessKey: 'secret' };
const there = { region: 'us-east-1', pathStyle: true, credentials };
const signal = AbortSignal.timeout(60_000);
let server: S3Server | string = 'not started';
let opened = 0;
const prefixes = new Map<PackStore, string>();

beforeAll(async () => {
  server = await startS3Server();
});
afterAll(async () => {
  if (typeof server !== 'string') await server.close();
});

describePackStore('a bucket', () => {
  if (typeof server === 'string') return server;
  const { endpoint, bucket } = server;
  const client = new S3Client({ endpoint, region: 'us-east-1', credentials, forcePathStyle: true });
  return {
    // This server takes the header and does not look at it.
    conditional: false,
    open: async (maxBytes) => {
      opened += 1;
      const prefix = `packs/${opened}/`;
      const store = await openS3PackStore({
        ...there,
        endpoint,
        bucket,
        prefix,
        ...(maxBytes === undefined ? {} : { maxBytes }),
      });
      prefixes.set(store, prefix);
      return store;
    },
    leftovers: async (store) => {
      const Prefix = prefixes.get(store) as string;
      const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix }));
      const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket, Prefix }));
      return [...Contents, ...Uploads].map(({ Key }) => Key ?? '');
    },
  };
});

describe('a store of packs in a bucket that fails', () => {
  let faulty: S3LikeServer;
  let store: PackStore;
  beforeAll(async () => {
    faulty = await new S3LikeServer().start();
    store = await openS3PackStore({ ...there, endpoint: faulty.endpoint, bucket: faulty.bucket, prefix: 'p/' });
  });
  afterAll(() => faulty.close());

  it.each<[S3Fault, string]>([
    ['broken', '500'],
    ['forbidden', '403'],
  ])('answers %s with what the bucket said, keeps nothing, and works when that is over', async (fault, status) => {
    const pack = address('org_a');
    faulty.fault = fault;
    const refusal = { code: 'sandbox.archive-unavailable', detail: expect.stringContaining(status) };
    await expect(store.put(pack, sourceOf(Buffer.from('x')), signal)).rejects.toMatchObject(refusal);
    faulty.fault = null;
    expect(await store.get(pack, null, signal)).toBeNull();
    expect((await store.put(pack, sourceOf(Buffer.from('x')), signal)).outcome).toBe('stored');
  });

  it('lets one of several puts at once win where the bucket knows conditions', async () => {
    const pack = address('org_a');
    const contents = ['a', 'b', 'c', 'd'];
    const answers = await Promise.all(contents.map((text) => store.put(pack, sourceOf(Buffer.from(text)), signal)));
    const winners = contents.filter((_text, index) => answers[index]?.outcome === 'stored');
    expect(winners).toHaveLength(1);
    expect((await buffer((await store.get(pack, null, signal)) as Readable)).toString()).toBe(winners[0]);
  });

  it('ends a read of a body that is cut with an error', async () => {
    const pack = address('org_a');
    await store.put(pack, sourceOf(Buffer.alloc(1_000)), signal);
    faulty.fault = 'cut';
    const cut = async () => buffer((await store.get(pack, null, signal)) as Readable);
    await expect(cut()).rejects.toMatchObject({ code: 'sandbox.archive-unavailable' });
    faulty.fault = null;
  });

  it('stops waiting for a bucket that does not answer when its caller does', async () => {
    faulty.fault = 'slow';
    const control = new AbortController();
    const put = store.put(address('org_a'), sourceOf(Buffer.from('x')), control.signal);
    setImmediate(() => control.abort(new Error('no time')));
    await expect(put).rejects.toThrow('no time');
    faulty.fault = null;
  });

  it('is not seen by the store of workspaces beside it', async () => {
    const url = `s3://${faulty.bucket}/p?region=us-east-1&endpoint=${faulty.endpoint}`;
    process.env['AWS_ACCESS_KEY_ID'] = 'key';
    process.env['AWS_SECRET_ACCESS_KEY'] = 'secret';
    const packs = await openPackStore(new URL(url));
    await packs.put(address('org_a'), sourceOf(Buffer.from('x')), signal);
    expect([...faulty.objects.keys()].filter((key) => key.startsWith('p/_packs/org_a/'))).toHaveLength(1);
    const listed = await (await openWorkspaceStore(new URL(url))).list(signal);
    expect(listed.filter((name) => name.includes('packs'))).toEqual([]);
  });
});
