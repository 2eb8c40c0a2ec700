import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type CheckpointObject, contentIdOf, encodeTree, type TreeEntry, writeObjectStream } from '@slipway/checkpoint';
import type { CapturedCheckpoint } from '@slipway/contracts/agent';
import type { TakenCheckpoints } from '@slipway/contracts/sandboxes';
import { SlipwayError } from '@slipway/errors';
import { openPackStore, type PackStore } from '@slipway/sandbox/packs';
import { CheckpointsService } from './checkpoints.service.js';
import { SandboxCheckpoints } from './sandbox-checkpoints.js';

const ORG = 'org_a';
const NONE = { count: 0, named: [] };

describe('a hostile sandbox that says what it has captured', () => {
  let server: Server;
  let address = '';
  let folder = '';
  let store: PackStore;
  let answer: () => AsyncIterable<Buffer>;
  let service: CheckpointsService;
  const signal = AbortSignal.timeout(30_000);

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-packs-'));
    store = await openPackStore(pathToFileURL(folder));
    server = createServer((_request, response) => void Readable.from(answer()).pipe(response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const sandboxes = new SandboxCheckpoints(generateKeyPairSync('ed25519').privateKey);
    service = new CheckpointsService(async () => ({ slotId: 'slot', uid: 'uid', address }), store, sandboxes);
  });
  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    await rm(folder, { recursive: true, force: true });
  });

  const chunk = (text: string): CheckpointObject => {
    const bytes = Buffer.from(text);
    return { kind: 'chunk', id: contentIdOf(bytes), bytes };
  };
  const tree = (entries: readonly TreeEntry[]): CheckpointObject => {
    const bytes = encodeTree(entries);
    return { kind: 'tree', id: contentIdOf(bytes), bytes };
  };
  const fileOf = (name: string, { id, bytes }: CheckpointObject): TreeEntry => ({
    kind: 'file',
    name,
    mode: 0o644,
    mtime: 0,
    size: bytes.length,
    chunks: [{ id, length: bytes.length }],
    linkedTo: null,
  });
  const rootOf = (project: CheckpointObject): CheckpointObject =>
    tree([{ kind: 'folder', name: 'project', mode: 0o755, mtime: 0, tree: project.id, heavy: false, stale: false }]);
  const captured = (root: string): CapturedCheckpoint => ({
    id: randomUUID(),
    reason: 'rest',
    after: randomUUID(),
    root,
    contentHash: root,
    files: 1,
    bytes: 1,
    newBytes: 1,
    complete: true,
    deferred: NONE,
    skipped: NONE,
    torn: NONE,
    takenAt: new Date(0).toISOString(),
  });
  const take = async (
    objects: readonly CheckpointObject[],
    trailer: unknown,
    have: { id: string; packs: TakenCheckpoints['packs'] } | null = null,
  ): Promise<TakenCheckpoints | string> => {
    answer = () => writeObjectStream(objects, () => trailer);
    return service
      .take(ORG, { sessionId: 's', conversation: randomUUID(), have }, signal)
      .catch((error: unknown) => (error instanceof SlipwayError ? error.code : String(error)));
  };
  const packs = async (): Promise<string[]> =>
    (await readdir(folder, { recursive: true })).filter((name) => /[0-9a-f]{32}$/.test(name));

  const text = chunk('text');
  const project = tree([fileOf('a.txt', text)]);
  const root = rootOf(project);
  const whole = [text, project, root];

  it('is believed when all that it names is there; what a durable checkpoint has is not stored again', async () => {
    const first = captured(root.id);
    const taken = await take(whole, { base: null, captured: [first] });
    expect(taken).toMatchObject({ base: null, captured: [first], packs: [{ bytes: expect.any(Number) }] });
    const have = { id: first.id, packs: (taken as TakenCheckpoints).packs };
    const other = chunk('other');
    const both = tree([fileOf('a.txt', text), fileOf('b.txt', other)]);
    const next = captured(rootOf(both).id);
    // It sends the first one again, too.
    expect(await take([...whole, other, both, rootOf(both)], { base: first.id, captured: [next] }, have)).toMatchObject(
      {
        base: first.id,
        captured: [next],
        packs: [{}],
      },
    );
    const before = (await packs()).length;
    expect(await take(whole, { base: first.id, captured: [captured(root.id)] }, have)).toMatchObject({ packs: [] });
    expect(await packs()).toHaveLength(before);
  });

  it('gets no content by its name alone: a file, folder or root that it did not send is refused', async () => {
    for (const objects of [[project, root], [text, root], [text, project], []])
      expect(await take(objects, { base: null, captured: [captured(root.id)] })).toBe('checkpoint.broken');
    // Also not when another conversation of the organization has it: the packs of its own checkpoint count.
    const mine = (await take([chunk('mine'), tree([]), rootOf(tree([]))], {
      base: null,
      captured: [captured(rootOf(tree([])).id)],
    })) as TakenCheckpoints;
    expect(
      await take(
        [project, root],
        { base: null, captured: [captured(root.id)] },
        { id: randomUUID(), packs: mine.packs },
      ),
    ).toBe('checkpoint.broken');
  });

  it('is refused when bytes are not what their name says, a folder is none, or the stream is cut or goes on', async () => {
    const lie = { ...text, bytes: Buffer.from('else') };
    expect(await take([lie, project, root], { base: null, captured: [captured(root.id)] })).toBe('checkpoint.broken');
    const bytes = Buffer.from('no folder');
    const none: CheckpointObject = { kind: 'tree', id: contentIdOf(bytes), bytes };
    expect(await take([none], { base: null, captured: [captured(none.id)] })).toBe('checkpoint.broken');
    for (const change of [
      (all: Buffer) => all.subarray(0, all.length - 1),
      (all: Buffer) => Buffer.concat([all, Buffer.from('x')]),
    ]) {
      const parts: Buffer[] = [];
      for await (const part of writeObjectStream(whole, () => ({ base: null, captured: [captured(root.id)] })))
        parts.push(part);
      answer = async function* () {
        yield change(Buffer.concat(parts));
      };
      await expect(
        service.take(ORG, { sessionId: 's', conversation: randomUUID(), have: null }, signal),
      ).rejects.toMatchObject({ code: 'checkpoint.broken' });
    }
  });

  it('is refused when it follows a checkpoint that it was not asked for, or says what is no checkpoint', async () => {
    expect(await take(whole, { base: randomUUID(), captured: [captured(root.id)] })).toBe('checkpoint.broken');
    for (const said of [null, { captured: [] }, { base: null, captured: [{ ...captured(root.id), reason: 'pause' }] }])
      expect(await take(whole, said)).toBe('checkpoint.broken');
  });
});
