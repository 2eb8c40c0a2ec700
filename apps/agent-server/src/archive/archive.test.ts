import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { InitState } from '@slipway/contracts/agent';
import type { ConversationEvent } from '@slipway/contracts/events';
import { until } from '@slipway/testing';
import { TestSandbox } from '../testing/sandbox.js';

const PARTS = ['workspace', 'conversations'] as const;

describe('GET and PUT /api/archive/{part}', () => {
  const open: TestSandbox[] = [];
  /** Both processes, blank. */
  async function blank(env: Record<string, string> = {}): Promise<TestSandbox> {
    const sandbox = await TestSandbox.create();
    open.push(sandbox);
    sandbox.env = env;
    await sandbox.startActionServer();
    await sandbox.startAgentServer();
    return sandbox;
  }
  const state = async (sandbox: TestSandbox): Promise<InitState> =>
    (await fetch(`${sandbox.url}/api/init`)).json() as Promise<InitState>;
  const codeOf = async (answer: Response): Promise<unknown> => [
    answer.status,
    ((await answer.json()) as { code?: string }).code,
  ];
  const kept = async (sandbox: TestSandbox, part: string): Promise<Buffer<ArrayBuffer>> => {
    const answer = await sandbox.archive('read', part);
    if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
    return Buffer.from(await answer.arrayBuffer());
  };
  /** A body whose first byte is sent at once, and the remainder on request. */
  const begun = (): { body: ReadableStream; end(): void; cut(): void } => {
    let control: ReadableStreamDefaultController | undefined;
    const body = new ReadableStream({
      start: (controller) => {
        control = controller;
        controller.enqueue(archives.workspace.subarray(0, 1));
      },
    });
    return {
      body,
      end: () => {
        control?.enqueue(archives.workspace.subarray(1));
        control?.close();
      },
      cut: () => control?.error(new Error('cut')),
    };
  };
  let full: TestSandbox;
  let archives: Record<(typeof PARTS)[number], Buffer<ArrayBuffer>>;
  let conversation = '';
  const eventsOf = async (sandbox: TestSandbox): Promise<ConversationEvent[]> =>
    (await sandbox.call<{ items: ConversationEvent[] }>('GET', `/api/conversations/${conversation}/events/search`)).body
      .items;

  beforeAll(async () => {
    full = await blank();
    await full.activate({});
    mkdirSync(path.join(full.workspace, 'src', 'empty'), { recursive: true });
    writeFileSync(path.join(full.workspace, 'src', 'tool.sh'), '#!/bin/sh\n', { mode: 0o755 });
    writeFileSync(path.join(full.workspace, 'noise'), randomBytes(300_000));
    writeFileSync(path.join(full.home, '.netrc'), 'machine x', { mode: 0o600 });
    execFileSync('mkfifo', [path.join(full.workspace, 'pipe')]);
    conversation = randomUUID();
    const agent = { llm: { model: 'm', base_url: 'http://127.0.0.1:9' } };
    await full.call('POST', '/api/conversations', {
      conversation_id: conversation,
      agent,
      workspace: { working_dir: full.workspace },
    });
    const say = (text: string): Promise<unknown> =>
      full.call('POST', `/api/conversations/${conversation}/events`, {
        role: 'user',
        content: [{ type: 'text', text }],
        run: false,
      });
    for (let index = 0; index < 20; index += 1) await say(`message ${index}`);
    archives = { workspace: await kept(full, 'workspace'), conversations: await kept(full, 'conversations') };
  });
  afterAll(() => Promise.all(open.map((sandbox) => sandbox.close())));

  it('carries the files, the home and the conversations into a blank sandbox, as often as it is asked', async () => {
    const next = await blank();
    writeFileSync(path.join(next.workspace, 'of an earlier try'), '');
    for (const _time of [1, 2])
      for (const part of PARTS) expect((await next.archive('write', part, { body: archives[part] })).status).toBe(204);
    expect(await state(next)).toMatchObject({ state: 'dormant', healthy: true, unhealthy_reason: null });
    expect(readdirSync(next.workspace).sort()).toEqual(['noise', 'src']);
    expect(
      readFileSync(path.join(next.workspace, 'noise')).equals(readFileSync(path.join(full.workspace, 'noise'))),
    ).toBe(true);
    expect(statSync(path.join(next.workspace, 'src', 'tool.sh')).mode & 0o777).toBe(0o755);
    expect(existsSync(path.join(next.workspace, 'src', 'empty'))).toBe(true);
    expect(readFileSync(path.join(next.home, '.netrc'), 'utf8')).toBe('machine x');
    expect((await next.activate({})).status).toBe(200);
    const events = await eventsOf(next);
    expect(events.filter((event) => event.kind === 'MessageEvent')).toHaveLength(20);
    expect(events).toEqual(await eventsOf(full));
  });

  it('says how much it left out', async () => {
    const answer = await full.archive('read', 'workspace');
    await answer.arrayBuffer();
    expect([answer.headers.get('content-type'), answer.headers.get('x-slipway-skipped')]).toEqual([
      'application/zstd',
      '1',
    ]);
  });

  it('opens to nothing but a fresh token of the platform for this sandbox, this part and this direction', async () => {
    const now = Math.floor(Date.now() / 1000);
    const refused: Array<[Parameters<TestSandbox['archive']>[2], number]> = [
      [{ key: generateKeyPairSync('ed25519').privateKey }, 401],
      [{ claim: { aud: 'slipway-activation' } }, 401],
      [{ claim: { exp: now - 5 } }, 401],
      [{ claim: { exp: now + 600 } }, 401],
      [{ claim: { exp: undefined } }, 401],
      [{ headers: {} }, 401],
      [{ headers: { 'x-session-api-key': full.sessionKey } }, 401],
      [{ claim: { slot_id: 'another' } }, 403],
      [{ claim: { pod_uid: 'another' } }, 403],
      [{ claim: { part: 'conversations' } }, 403],
    ];
    const dormant = await blank();
    for (const [more, status] of refused) {
      expect([more, (await full.archive('read', 'workspace', more)).status]).toEqual([more, status]);
      expect([
        more,
        (await dormant.archive('write', 'workspace', { ...more, body: archives.workspace })).status,
      ]).toEqual([more, status]);
    }
    expect((await full.archive('read', 'workspace', { claim: { op: 'write' } })).status).toBe(403);
    expect(
      (await dormant.archive('write', 'workspace', { claim: { op: 'read' }, body: archives.workspace })).status,
    ).toBe(403);
    expect((await full.archive('read', 'secrets')).status).toBe(404);
    expect(readdirSync(dormant.workspace)).toEqual([]);
  });

  it('puts nothing into a sandbox that has an owner, and claims none that is being filled', async () => {
    expect(await codeOf(await full.archive('write', 'workspace', { body: archives.workspace }))).toEqual([
      409,
      'sandbox.already-activated',
    ]);
    expect(existsSync(path.join(full.workspace, 'noise'))).toBe(true);
    const filling = await blank();
    const stream = begun();
    const put = filling.archive('write', 'workspace', { body: stream.body });
    const marker = path.join(filling.stateDir, 'restores', 'workspace');
    await until('it has begun', () => existsSync(marker));
    expect(await codeOf(await filling.activate({}))).toEqual([422, 'sandbox.archive-broken']);
    expect(await state(filling)).toMatchObject({ state: 'dormant', healthy: true });
    stream.end();
    expect((await put).status).toBe(204);
    expect((await filling.activate({})).status).toBe(200);
  });

  it('makes a sandbox useless when it is cut or altered, over a restart too, until it comes whole', async () => {
    const sandbox = await blank();
    const altered = Buffer.from(archives.workspace);
    altered.fill(0, altered.length >> 1, (altered.length >> 1) + 50);
    expect(await codeOf(await sandbox.archive('write', 'workspace', { body: altered }))).toEqual([
      422,
      'sandbox.archive-broken',
    ]);
    const stream = begun();
    const put = sandbox.archive('write', 'workspace', { body: stream.body }).catch(() => 'cut');
    await until('it has begun', async () => (await state(sandbox)).unhealthy_reason === null);
    stream.cut();
    expect(await put).toBe('cut');
    await until('it is over', async () => !(await state(sandbox)).healthy);
    for (const _life of [1, 2]) {
      expect(await state(sandbox)).toMatchObject({
        state: 'dormant',
        healthy: false,
        unhealthy_reason: expect.stringContaining('workspace'),
      });
      expect(await codeOf(await sandbox.activate({}))).toEqual([422, 'sandbox.archive-broken']);
      expect(await codeOf(await sandbox.archive('read', 'workspace'))).toEqual([422, 'sandbox.archive-broken']);
      await sandbox.kill('agentServer');
      await sandbox.startAgentServer();
    }
    expect((await sandbox.archive('write', 'workspace', { body: archives.workspace })).status).toBe(204);
    expect((await sandbox.activate({})).status).toBe(200);
  });

  it('answers an error when the tool process dies in the middle, in both directions', async () => {
    const sandbox = await blank();
    const stream = begun();
    const put = sandbox.archive('write', 'workspace', { body: stream.body });
    await until('it has begun', () => existsSync(path.join(sandbox.stateDir, 'restores', 'workspace')));
    await sandbox.kill('actionServer');
    stream.end();
    expect(await codeOf(await put)).toEqual([503, 'sandbox.tool-unavailable']);
    const reading = await blank();
    writeFileSync(path.join(reading.workspace, 'noise'), randomBytes(30_000_000));
    const answer = await reading.archive('read', 'workspace');
    await reading.kill('actionServer');
    await expect(answer.arrayBuffer()).rejects.toThrow();
  });

  it('refuses what is too large by its size, and goes on', async () => {
    const sandbox = await blank({ ARCHIVE_MAX_BYTES: '2000000' });
    writeFileSync(path.join(sandbox.workspace, 'large'), randomBytes(3_000_000));
    const answer = await sandbox.archive('read', 'workspace');
    const problem = (await answer.json()) as { code: string; detail: string };
    expect([answer.status, problem.code]).toEqual([413, 'sandbox.archive-too-large']);
    expect(problem.detail).toMatch(/2\.9 MiB; at most 2 MiB/);
    expect((await sandbox.archive('read', 'conversations')).status).toBe(200);
  });

  it('holds neither way more than a few chunks in memory, however much there is', async () => {
    const sandbox = await blank();
    execFileSync('sh', [
      '-c',
      `head -c 20000000 /dev/urandom > "${sandbox.workspace}/a"; for i in 1 2 3 4 5 6 7 8 9 10; do cat "${sandbox.workspace}/a"; done > "${sandbox.workspace}/noise"`,
    ]);
    // The first transfer loads code.
    await (await sandbox.archive('read', 'conversations')).arrayBuffer();
    const peak = (): number[] =>
      [sandbox.agentServer, sandbox.actionServer].map(
        (child) => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child?.pid}/status`, 'utf8'))?.[1]) / 1024,
      );
    const before = peak();
    const answer = await sandbox.archive('read', 'workspace');
    const archive = Buffer.from(await answer.arrayBuffer());
    expect(archive.length).toBeGreaterThan(200_000_000);
    const put = await sandbox.archive('write', 'workspace', { body: archive });
    expect([put.status, await put.text()]).toEqual([204, '']);
    const grown = peak().map((value, index) => value - (before[index] ?? 0));
    for (const mib of grown) expect(mib).toBeLessThan(64);
  });
});
