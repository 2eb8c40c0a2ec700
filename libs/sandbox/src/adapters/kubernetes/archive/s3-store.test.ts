import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { ListMultipartUploadsCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { skipTest } from '@slipway/testing/jest';
import { openS3Store } from './s3-store.js';
import { type S3Server, startS3Server } from './testing/s3-server.js';
import { describeWorkspaceStore } from './testing/workspace-store.contract.js';

const credentials = { accessKeyId: 'key', secretAccessKey: 'secret' };
const signal = AbortSignal.timeout(60_000);
let server: S3Server | string = 'not started';
let opened = 0;
const prefixes = new Map<unknown, string>();

beforeAll(async () => {
  server = await startS3Server();
});
afterAll(async () => {
  if (typeof server !== 'string') await server.close();
});

describeWorkspaceStore('a bucket', () => {
  if (typeof server === 'string') return server;
  const { endpoint, bucket } = server;
  const client = new S3Client({ endpoint, region: 'us-east-1', credentials, forcePathStyle: true });
  return {
    open: async (maxBytes) => {
      opened += 1;
      const prefix = `here/${opened}/`;
      const store = await openS3Store({
        endpoint,
        bucket,
        prefix,
        region: 'us-east-1',
        pathStyle: true,
        credentials,
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

describe('a store in a bucket', () => {
  it('says what the bucket answered, and that it does not answer', async () => {
    if (typeof server === 'string') return skipTest(server);
    const there = { region: 'us-east-1', pathStyle: true, credentials };
    const missing = await openS3Store({ ...there, endpoint: server.endpoint, bucket: 'no-such-bucket' });
    await expect(missing.list(signal)).rejects.toMatchObject({
      code: 'sandbox.archive-unavailable',
      detail: expect.stringContaining('404 (NoSuchBucket)'),
    });
    const away = await openS3Store({ ...there, endpoint: 'http://127.0.0.1:9', bucket: 'b' });
    const refusal = { code: 'sandbox.archive-unavailable', detail: expect.stringContaining('does not answer') };
    await expect(away.list(signal)).rejects.toMatchObject(refusal);
    await expect(away.get('a', 'workspace', signal)).rejects.toMatchObject(refusal);
    await expect(away.put('a', 'workspace', Readable.from([Buffer.from('x')]), signal)).rejects.toMatchObject(refusal);
  });

  it('ends a read that is cut off with an error, and a cancelled one at once', async () => {
    if (typeof server === 'string') return skipTest(server);
    const cutting = await cutAfter(new URL(server.endpoint), 1_000_000);
    try {
      const options = { bucket: server.bucket, prefix: 'cut/', region: 'us-east-1', pathStyle: true, credentials };
      const direct = await openS3Store({ ...options, endpoint: server.endpoint });
      await direct.put('a', 'workspace', Readable.from([randomBytes(3_000_000)]), signal);
      const cut = await openS3Store({
        ...options,
        endpoint: `http://127.0.0.1:${(cutting.address() as AddressInfo).port}`,
      });
      await expect(buffer((await cut.get('a', 'workspace', signal)) as Readable)).rejects.toMatchObject({
        code: 'sandbox.archive-unavailable',
      });
      const control = new AbortController();
      const unwanted = (await direct.get('a', 'workspace', control.signal)) as Readable;
      control.abort(new Error('not wanted any more'));
      await expect(buffer(unwanted)).rejects.toThrow('not wanted any more');
    } finally {
      cutting.close();
    }
  });
});

/** A way to the server that breaks off after so many bytes of an answer. */
async function cutAfter(target: URL, bytes: number): Promise<Server> {
  const proxy = createServer((socket: Socket) => {
    const onward = connect(Number(target.port), target.hostname);
    let passed = 0;
    socket.pipe(onward);
    onward.on('data', (chunk: Buffer) => {
      passed += chunk.length;
      if (passed > bytes) socket.destroy();
      else socket.write(chunk);
    });
    for (const end of [socket, onward]) {
      end.on('error', () => {});
      end.on('close', () => (end === socket ? onward : socket).destroy());
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return proxy;
}
