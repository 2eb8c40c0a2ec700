import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type CheckpointObject, readObjectStream, walkTrees, writeObjectStream } from '@slipway/checkpoint';
import { CapturedCheckpoint, CheckpointTrailer, type RestoredCheckpoint } from '@slipway/contracts/agent';
import { type ConversationEvent, stateValueOf } from '@slipway/contracts/events';
import { type ModelServer, startModelServer, until } from '@slipway/testing';
import { TestSandbox } from '../testing/sandbox.js';
import { TestApp } from '../testing/test-app.js';

/** What runtime-api would have in packs. */
type Stored = Map<string, CheckpointObject>;

describe('checkpoints of a sandbox', () => {
  let model: ModelServer;
  let app: TestApp;
  let sandbox: TestSandbox;
  const open: TestSandbox[] = [];
  const id = randomUUID();
  const stored: Stored = new Map();
  const file = (of: TestSandbox, ...names: string[]): string => path.join(of.workspace, 'project', ...names);

  const startConversation = async (of: TestSandbox, epoch: number, checkpoints = true): Promise<void> => {
    const answer = await of.call('POST', '/api/conversations', {
      conversation_id: id,
      agent: { llm: { model: 'openai/scripted', base_url: model.url, api_key: 'sk-of-the-model' } },
      workspace: { working_dir: file(of), kind: 'LocalWorkspace' },
      slipway: {
        epoch,
        ingestUrl: app.url,
        ingestToken: 'token',
        head: app.events.length,
        resumeRun: false,
        checkpoints,
      },
    });
    expect(answer.status).toBeLessThan(300);
  };
  const captured = (): CapturedCheckpoint[] =>
    app.events.flatMap((event: ConversationEvent) => stateValueOf(event, 'checkpoint') ?? []);
  const say = async (of: TestSandbox, command: string): Promise<CapturedCheckpoint> => {
    const before = captured().length;
    model.use([{ toolCalls: [{ name: 'terminal', arguments: { command } }] }, { text: 'Done.' }]);
    await of.call('POST', `/api/conversations/${id}/events`, {
      role: 'user',
      content: [{ type: 'text', text: 'go' }],
      run: true,
    });
    await until('a captured checkpoint', () => captured().length > before, 30_000);
    return captured().at(-1) as CapturedCheckpoint;
  };
  const read = async (of: TestSandbox, have?: string): Promise<CheckpointTrailer> => {
    const answer = await of.checkpoint('read', id, { query: have === undefined ? {} : { have } });
    if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
    const { objects, trailer } = readObjectStream(answer.body as AsyncIterable<Uint8Array>, 2 ** 30);
    for await (const object of objects) stored.set(object.id, { ...object, bytes: Buffer.from(object.bytes) });
    return CheckpointTrailer.parse(trailer());
  };
  /** All that the checkpoint reaches, as runtime-api sends it. */
  async function* objectsOf(root: string): AsyncGenerator<CheckpointObject> {
    const chunks = new Set<string>();
    const load = async (wanted: string): Promise<Uint8Array> => (stored.get(wanted) as CheckpointObject).bytes;
    const signal = AbortSignal.timeout(30_000);
    for await (const { id: tree, tree: entries, bytes } of walkTrees({ root, load, known: () => false, signal })) {
      for (const entry of entries)
        if (entry.kind === 'file') for (const { id: chunk } of entry.chunks) if (chunk !== null) chunks.add(chunk);
      yield { kind: 'tree', id: tree, bytes };
    }
    for (const chunk of chunks) yield stored.get(chunk) as CheckpointObject;
  }
  const restore = async (
    of: TestSandbox,
    { id: checkpoint, root }: CapturedCheckpoint,
  ): Promise<RestoredCheckpoint> => {
    const answer = await of.checkpoint('write', id, {
      query: { id: checkpoint, root, over: 'blank', needs: '0' },
      body: ReadableStream.from(writeObjectStream(objectsOf(root), () => null)) as ReadableStream,
    });
    if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
    return (await answer.json()) as RestoredCheckpoint;
  };
  const another = async (): Promise<TestSandbox> => {
    const made = await TestSandbox.start();
    open.push(made);
    return made;
  };

  beforeAll(async () => {
    [sandbox, model, app] = await Promise.all([another(), startModelServer({ script: [] }), new TestApp().start()]);
    mkdirSync(file(sandbox, 'src'), { recursive: true });
    writeFileSync(file(sandbox, 'src', 'a.txt'), 'a\n');
    await startConversation(sandbox, 1);
  });
  afterAll(async () => {
    for (const each of open) await each.close();
    await model?.close();
    await app?.close();
  });

  it('are captured when the agent stops, and say what they hold and where in the log', async () => {
    const first = await say(sandbox, 'echo b > src/b.txt; mkdir -p node_modules/x; echo x > node_modules/x/y');
    expect(first).toMatchObject({ reason: 'rest', deferred: { count: expect.any(Number) } });
    const at = app.events.findIndex((event: ConversationEvent) => event.id === first.after);
    expect(stateValueOf(app.events[at] as ConversationEvent, 'execution_status')).toBe('finished');
    const trailer = await read(sandbox);
    expect(trailer.base).toBeNull();
    expect(trailer.captured[0]).toEqual(first);
    expect(stored.has(first.root)).toBe(true);
  });

  it('follow each other: the next sends only what is new, and nothing changed is no checkpoint', async () => {
    const [last] = (await read(sandbox)).captured.slice(-1);
    const next = await say(sandbox, 'echo c > src/c.txt');
    const before = stored.size;
    const trailer = await read(sandbox, last?.id);
    expect(trailer.base).toBe(last?.id);
    expect(trailer.captured.map((each) => each.id)).toContain(next.id);
    expect(stored.size - before).toBeLessThan(20);
    const count = captured().length;
    model.use([{ text: 'Nothing to do.' }]);
    await sandbox.call('POST', `/api/conversations/${id}/events`, {
      role: 'user',
      content: [{ type: 'text', text: 'look' }],
      run: true,
    });
    await until('the end of the run', () => model.requests.length > 0 && app.events.at(-1)?.kind !== 'MessageEvent');
    expect((await read(sandbox, trailer.captured.at(-1)?.id)).captured).toEqual([]);
    expect(captured().length).toBe(count);
  });

  it('bring the files into another sandbox, from which the conversation goes on', async () => {
    const newest = captured().at(-1) as CapturedCheckpoint;
    const other = await another();
    expect((await other.call('GET', `/api/slipway/conversations/${id}/checkpoints/${newest.id}`)).body).toEqual({
      known: false,
    });
    expect(await restore(other, newest)).toMatchObject({ exact: true, kept: { count: 0 } });
    for (const name of ['a', 'b', 'c'])
      expect(readFileSync(file(other, 'src', `${name}.txt`), 'utf8')).toBe(`${name}\n`);
    expect((await other.call('GET', `/api/slipway/conversations/${id}/checkpoints/${newest.id}`)).body).toEqual({
      known: true,
    });
    await startConversation(other, app.nextEpoch());
    const size = stored.size;
    const next = await say(other, 'rm src/a.txt');
    const trailer = await read(other, newest.id);
    expect(trailer).toMatchObject({ base: newest.id, captured: [{ id: next.id }] });
    expect(stored.size - size).toBeLessThan(20);
    sandbox = other;
  });

  it('begin anew when the platform has another one than the sandbox, or the files of what was staged are lost', async () => {
    const answer = await sandbox.checkpoint('read', id, { query: { have: randomUUID() } });
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([409, 'checkpoint.unknown']);
    const [again] = await until('everything is captured again', async () => {
      const { captured: found } = await read(sandbox);
      return found.length > 0 ? found : undefined;
    });
    expect(await collect(objectsOf(again?.root as string))).toBeGreaterThan(3);
  });

  it('are given only to a token of the platform for this sandbox, conversation and direction', async () => {
    const codeOf = async (answer: Response): Promise<unknown> => [
      answer.status,
      ((await answer.json()) as { code?: string }).code,
    ];
    expect(await codeOf(await fetch(`${sandbox.url}/api/checkpoints/${id}`, { headers: sandbox.asApp }))).toEqual([
      401,
      'auth.missing',
    ]);
    for (const claim of [{ conversation: randomUUID() }, { op: 'write' }, { pod_uid: 'x' }, { slot_id: 'x' }])
      expect(await codeOf(await sandbox.checkpoint('read', id, { claim }))).toEqual([403, 'permission.denied']);
    expect(
      await codeOf(await sandbox.checkpoint('read', id, { claim: { exp: Math.floor(Date.now() / 1000) + 3_600 } })),
    ).toEqual([401, 'auth.missing']);
  });

  it('are not restored from an object that is another one than its name says', async () => {
    const newest = captured().at(-1) as CapturedCheckpoint;
    const other = await another();
    async function* forged(): AsyncGenerator<Buffer> {
      for await (const part of writeObjectStream(objectsOf(newest.root), () => null)) {
        const bytes = Buffer.from(part);
        if (bytes.length > 60) bytes[bytes.length - 1] = (bytes[bytes.length - 1] ?? 0) ^ 1;
        yield bytes;
      }
    }
    const answer = await other.checkpoint('write', id, {
      query: { id: newest.id, root: newest.root, over: 'blank', needs: '0' },
      body: ReadableStream.from(forged()) as ReadableStream,
    });
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([502, 'checkpoint.broken']);
    rmSync(file(other), { recursive: true, force: true });
  });
});

async function collect(objects: AsyncIterable<CheckpointObject>): Promise<number> {
  let count = 0;
  for await (const _object of objects) count += 1;
  return count;
}
