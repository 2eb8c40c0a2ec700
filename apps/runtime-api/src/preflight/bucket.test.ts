import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { openWorkspaceStore } from '@slipway/sandbox/adapters/kubernetes';
import { type S3Fault, S3LikeServer } from '@slipway/sandbox/testing';
import { createLogger } from '@slipway/telemetry';
import { StoreWatch } from '../pool/store-watch.js';
import { bucket } from './bucket.js';

const KEYS = { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret', AWS_REGION: 'us-east-1' };

describe('the bucket before an install', () => {
  let server: S3LikeServer;
  const url = (): string =>
    `s3://${server.bucket}/prefix?region=us-east-1&endpoint=${encodeURIComponent(server.endpoint)}`;
  beforeAll(async () => {
    Object.assign(process.env, KEYS);
    server = await new S3LikeServer().start();
  });
  afterAll(async () => {
    for (const name of Object.keys(KEYS)) delete process.env[name];
    await server.close();
  });
  beforeEach(() => {
    server.fault = null;
    server.objects.clear();
  });

  it('passes when it takes, gives back and deletes an object, and nothing stays in it', async () => {
    expect(await bucket(url(), 'key')).toBeNull();
    expect([...server.objects.keys()]).toEqual([]);
  });

  const faults: ReadonlyArray<readonly [S3Fault, RegExp]> = [
    [
      'no-bucket',
      /^sandboxes\.workspaceStore\.url: .*404 \(NoSuchBucket\)\. Make the bucket workspaces, or correct the name\.$/,
    ],
    [
      'forbidden',
      /403 \(AccessDenied\)\. The keys of sandboxes\.workspaceStore\.existingSecret need ListBucket, GetObject, PutObject and DeleteObject there\.$/,
    ],
    ['broken', /answered with 500 \(InternalError\)\. Paused conversations would lose their files\.$/],
    ['cut', /^sandboxes\.workspaceStore\.url: /],
    ['forgets', /took an object and gave back none\./],
    ['slow', /no answer within 20 s\./],
  ];
  for (const [fault, says] of faults)
    it(`says what is wrong with a bucket whose store is ${fault}`, async () => {
      server.fault = fault;
      expect(await bucket(url(), 'key')).toMatch(says);
    }, 60_000);

  it('names a bucket that does not exist also without keys, and leaves other checks to the identity of runtime-api', async () => {
    expect(await bucket(url(), undefined)).toBeNull();
    server.fault = 'no-bucket';
    expect(await bucket(url(), undefined)).toBe(
      'sandboxes.workspaceStore.url: there is no bucket workspaces. Make it, or correct the name.',
    );
  });

  it('is watched while runtime-api runs: a store that breaks is a problem within one probe, and none after the next', async () => {
    const watch = new StoreWatch(await openWorkspaceStore(new URL(url())), createLogger('test', 'silent'));
    await watch.probe();
    expect(watch.problem).toBeNull();
    server.fault = 'no-bucket';
    await watch.probe();
    expect(watch.problem).toMatch(/^Workspaces cannot be kept: .*404 \(NoSuchBucket\)/);
    server.fault = null;
    await watch.probe();
    expect(watch.problem).toBeNull();
    watch.close();
  });
});
