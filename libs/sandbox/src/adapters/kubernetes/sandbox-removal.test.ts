import { generateKeyPairSync, verify } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import http, { type Server } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ArchiveClaims } from '@slipway/contracts/agent';
import { createLogger } from '@slipway/telemetry';
import { until } from '@slipway/testing';
import { S3LikeServer } from '../../testing/s3-like-server.js';
import { DirectoryStore } from './archive/directory-store.js';
import { openS3Store } from './archive/s3-store.js';
import type { WorkspaceStore } from './archive/workspace-store.js';
import { ArchiveTransfer } from './archive-transfer.js';
import { ClusterPods } from './cluster-pods.js';
import { BUDGETS, KubeApi } from './kube-api.js';
import { SandboxRemoval } from './sandbox-removal.js';
import { TestApiServer } from './test-api-server.js';
import { SYSTEM_TIMING } from './timing.js';

const keys = generateKeyPairSync('ed25519');

/** An agent-server that has an archive; claimed by default. */
class Sandbox {
  claimId: string | null = 'claim';
  answers = true;
  archiveStatus = 200;
  /** Ends when a test lets the archive go on. */
  hold: Promise<void> = Promise.resolve();
  readonly asked: string[] = [];
  readonly taken = new Map<string, string>();
  private readonly server: Server = http.createServer((request, response) => {
    if (!this.answers) return void request.socket.destroy();
    if (request.url === '/api/init') {
      const state = {
        state: this.claimId === null ? 'dormant' : 'ready',
        slot_id: 'one',
        claim_id: this.claimId,
        working_dir: '/workspace',
      };
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(state));
    }
    const [, , , part = ''] = request.url?.split('/') ?? [];
    const [head = '', payload = '', signature = ''] = (request.headers.authorization ?? '')
      .replace('Bearer ', '')
      .split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
    if (!verify(null, Buffer.from(`${head}.${payload}`), keys.publicKey, Buffer.from(signature, 'base64url')))
      return void response.writeHead(401).end();
    if (claims.aud !== 'slipway-archive' || ArchiveClaims.parse(claims).part !== part)
      return void response.writeHead(403).end();
    this.asked.push(`${request.method} ${part} ${claims.op} ${claims.pod_uid}`);
    if (this.archiveStatus !== 200)
      return void response.writeHead(this.archiveStatus).end(JSON.stringify({ detail: 'The disk is gone.' }));
    if (request.method === 'PUT')
      return void text(request).then((body) => response.writeHead(204).end(void this.taken.set(part, body)));
    void this.hold.then(() => response.writeHead(200).end(`the ${part}`));
  });
  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    const address = this.server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }
  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

describe('the removal of a sandbox', () => {
  const signal = AbortSignal.timeout(60_000);
  let server: TestApiServer;
  let sandbox: Sandbox;
  let api: KubeApi;
  let pods: ClusterPods;
  let store: WorkspaceStore;
  let transfer: ArchiveTransfer;
  let removal: SandboxRemoval;
  let folder: string;
  const start = async (node?: object): Promise<void> => {
    if (node !== undefined) server.nodes = [node];
    const logger = createLogger('test', 'silent');
    const port = await sandbox.listen();
    api = new KubeApi(
      { server: new URL(server.url), credentials: async () => ({ tls: {}, authorization: null }) },
      SYSTEM_TIMING,
      BUDGETS,
    );
    pods = new ClusterPods(api, 'sandboxes', SYSTEM_TIMING, logger, port);
    transfer = new ArchiveTransfer(store, keys.privateKey);
    removal = new SandboxRemoval(api, pods, store, transfer, logger, new AbortController().signal);
    await until('synced', () => pods.health.synced);
  };
  beforeEach(async () => {
    server = await new TestApiServer().start();
    sandbox = new Sandbox();
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-removal-'));
    store = new DirectoryStore(folder);
  });
  afterEach(async () => {
    await pods.close();
    api.close();
    await Promise.all([server.close(), sandbox.close()]);
    await rm(folder, { recursive: true, force: true });
  });

  /** A running pod, with what differs. */
  const pod = ({
    labels = {},
    annotations = {},
    agent = { running: {} } as object,
    nodeName = 'n1',
    deletionTimestamp = undefined as string | undefined,
  } = {}): string =>
    server.put('sb-one', {
      metadata: {
        labels: { 'slipway.dev/slot': 'one', ...labels },
        annotations,
        ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
      },
      spec: { nodeName },
      status: { phase: 'Running', podIP: '127.0.0.1', containerStatuses: [{ name: 'agent-server', state: agent }] },
    }).metadata.uid;
  const kept = async (workspace: string, part: 'workspace' | 'conversations'): Promise<string | null> => {
    const stream = await store.get(workspace, part, signal);
    return stream === null ? null : text(stream);
  };
  const deletes = (): string[] => server.requests.filter(({ method }) => method === 'DELETE').map(({ body }) => body);

  it('keeps the workspace of a sandbox that had an owner before it deletes the pod, and the pod with that uid only', async () => {
    await start();
    const uid = pod();
    sandbox.hold = until('asked', () => sandbox.asked.length > 0).then(() => expect(deletes()).toEqual([]));
    expect(await removal.remove('sb-one', uid, signal)).toBe('gone');
    expect(await kept('sb-one', 'workspace')).toBe('the workspace');
    expect(await kept('sb-one', 'conversations')).toBe('the conversations');
    expect(deletes().map((body) => JSON.parse(body).preconditions)).toEqual([{ uid }]);
    expect(sandbox.asked).toEqual([`GET workspace read ${uid}`, `GET conversations read ${uid}`]);
  });

  it('keeps the workspace under the name of that which was attached', async () => {
    await start();
    const uid = pod({ annotations: { 'slipway.dev/workspace': 'sb-first' } });
    await removal.remove('sb-one', uid, signal);
    expect(await store.list(signal)).toEqual(['sb-first']);
  });

  it('only marks the workspace of a sandbox without an owner, and leaves an attached one as stored', async () => {
    sandbox.claimId = null;
    await start();
    await removal.remove('sb-one', pod(), signal);
    expect([await store.exists('sb-one', signal), await kept('sb-one', 'workspace'), sandbox.asked]).toEqual([
      true,
      null,
      [],
    ]);
    await removal.remove('sb-one', pod({ annotations: { 'slipway.dev/workspace': 'sb-first' } }), signal);
    expect(await store.list(signal)).toEqual(['sb-one']);
  });

  it('saves once for all who ask meanwhile, and goes on when they have no time', async () => {
    let go = (): void => {};
    sandbox.hold = new Promise((resolve) => (go = resolve));
    await start();
    const uid = pod();
    const hurried = [1, 2, 3].map(() => removal.remove('sb-one', uid, AbortSignal.timeout(50)));
    for (const attempt of hurried)
      await expect(attempt).rejects.toMatchObject({
        code: 'sandbox.unreachable',
        detail: expect.stringContaining('still being saved'),
      });
    expect(deletes()).toEqual([]);
    const patient = removal.remove('sb-one', uid, signal);
    go();
    expect(await patient).toBe('gone');
    expect(sandbox.asked.length).toBe(2);
  });

  it('keeps the pod when the workspace cannot be saved, says why, and saves it the next time', async () => {
    sandbox.archiveStatus = 500;
    await start();
    const uid = pod();
    await expect(removal.remove('sb-one', uid, signal)).rejects.toMatchObject({
      detail: expect.stringContaining('The disk is gone.'),
    });
    expect([server.items.size, deletes()]).toEqual([1, []]);
    sandbox.archiveStatus = 200;
    // Gets the last failure until the pause is over.
    expect(await until('it is saved', () => removal.remove('sb-one', uid, signal))).toBe('gone');
    expect(await kept('sb-one', 'workspace')).toBe('the workspace');
  });

  for (const fault of ['no-bucket', 'forbidden', 'broken', 'cut'] as const)
    it(`keeps the pod while the bucket's store is ${fault}, does not report the workspace as saved, and saves it when the store is back`, async () => {
      const s3 = await new S3LikeServer().start();
      try {
        const credentials = { accessKeyId: 'key', secretAccessKey: 'secret' };
        const bucket = await openS3Store({
          bucket: s3.bucket,
          endpoint: s3.endpoint,
          region: 'us-east-1',
          pathStyle: true,
          credentials,
        });
        store = bucket;
        await start();
        const uid = pod({ labels: { 'slipway.dev/claim': 'claim' } });
        s3.fault = fault;
        const calls: string[] = [];
        const onKept = async (): Promise<void> => void calls.push(`kept, ${deletes().length} deletions`);
        await expect(removal.remove('sb-one', uid, signal, { onKept })).rejects.toMatchObject({
          code: 'sandbox.archive-unavailable',
        });
        expect([server.items.size, deletes(), calls]).toEqual([1, [], []]);
        s3.fault = null;
        expect(await until('it is kept', () => removal.remove('sb-one', uid, signal, { onKept }))).toBe('gone');
        expect([calls, s3.objects.get('sb-one/workspace.tar.zst')?.toString() ?? [...s3.objects.keys()]]).toEqual([
          ['kept, 0 deletions'],
          'the workspace',
        ]);
      } finally {
        await s3.close();
      }
    });

  it('gives a workspace up that cannot be kept only on request, and does not report it as saved', async () => {
    sandbox.archiveStatus = 500;
    await start();
    const uid = pod();
    let isKept = false;
    const onKept = async (): Promise<void> => {
      isKept = true;
    };
    expect(await removal.remove('sb-one', uid, signal, { evenUnkept: true, onKept })).toBe('gone');
    expect([isKept, await kept('sb-one', 'workspace')]).toEqual([false, null]);
  });

  it('keeps the workspace of a sandbox that a drain ends, and then does not wait for its grace period', async () => {
    await start();
    const uid = pod({ labels: { 'slipway.dev/claim': 'claim' }, deletionTimestamp: new Date().toISOString() });
    let isKept = false;
    const onKept = async (): Promise<void> => {
      isKept = true;
    };
    expect(await removal.remove('sb-one', uid, signal, { onKept })).toBe('gone');
    expect([isKept, await kept('sb-one', 'workspace')]).toEqual([true, 'the workspace']);
    expect(deletes().map((body) => JSON.parse(body).gracePeriodSeconds)).toEqual([5]);
  });

  it('does not wait for a sandbox that has ended, nor for a silent one without an owner; it does for a silent one with an owner', async () => {
    sandbox.answers = false;
    await start();
    const labels = { 'slipway.dev/claim': 'claim' };
    expect(await removal.remove('sb-one', pod({ labels, agent: { terminated: { exitCode: 1 } } }), signal)).toBe(
      'gone',
    );
    expect(await removal.remove('sb-one', pod(), signal)).toBe('gone');
    const uid = pod({ labels });
    await expect(removal.remove('sb-one', uid, signal)).rejects.toMatchObject({ code: 'sandbox.unreachable' });
    expect(server.items.size).toBe(1);
  });

  it('takes a sandbox that a session goes on with for one with an owner, also before that is recorded on it', async () => {
    sandbox.answers = false;
    await start();
    let isKept = false;
    const onKept = async (): Promise<void> => {
      isKept = true;
    };
    const ended = pod({ agent: { terminated: { exitCode: 1 } } });
    expect(await removal.remove('sb-one', ended, signal, { owned: true, onKept })).toBe('gone');
    // No blank one in its place: the session is to say that it was lost.
    expect([isKept, await store.list(signal)]).toEqual([false, []]);
    const silent = pod();
    await expect(removal.remove('sb-one', silent, signal, { owned: true })).rejects.toMatchObject({
      code: 'sandbox.unreachable',
    });
    expect([server.items.size, await store.list(signal)]).toEqual([1, []]);
  });

  it('leaves a sandbox of another uid alone, and finds nothing to do where there is none', async () => {
    await start();
    pod();
    expect(await removal.remove('sb-one', 'another', signal)).toBe('kept');
    expect(await removal.remove('sb-none', 'another', signal)).toBe('gone');
    expect([deletes(), sandbox.asked, server.items.size]).toEqual([[], [], 1]);
  });

  it('takes a pod from a node that has been silent for long without that node, and does not wait for its workspace', async () => {
    const since = new Date(Date.now() - 120_000).toISOString();
    await start({
      metadata: { name: 'n1', uid: 'n', resourceVersion: '7' },
      status: { conditions: [{ type: 'Ready', status: 'Unknown', lastTransitionTime: since }] },
    });
    expect(await removal.remove('sb-one', pod({ labels: { 'slipway.dev/claim': 'claim' } }), signal)).toBe('gone');
    expect(deletes().map((body) => JSON.parse(body).gracePeriodSeconds)).toEqual([0]);
    expect(sandbox.asked).toEqual([]);
  });

  it('puts every part that is kept into a sandbox without an owner', async () => {
    await start();
    const uid = pod();
    await removal.remove('sb-one', uid, signal);
    const address = pods.observe({ ...(await fetched(pod())) });
    if (address.state !== 'running') throw new Error(address.state);
    await transfer.restore({ slotId: 'one', uid: 'new', address: address.address }, 'sb-one', signal);
    expect([...sandbox.taken]).toEqual([
      ['workspace', 'the workspace'],
      ['conversations', 'the conversations'],
    ]);
  });

  async function fetched(_uid: string) {
    const found = await pods.fetch('sb-one', signal);
    if (found === null) throw new Error('no pod');
    return found;
  }
});
