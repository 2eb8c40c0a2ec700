import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { EgressBodyTally } from '@slipway/contracts/sandboxes';
import { Winnowing } from '@slipway/net';
import { until } from '@slipway/testing';
import { rule, TestBroker } from './testing/test-broker.js';

jest.setTimeout(120_000);

const FILE = Buffer.from(
  Array.from(
    { length: 600 },
    (_, line) => `export const amount${line * 7_919} = total(${line ** 3}, 'row ${line}');\n`,
  ).join(''),
);
const MIB = 1024 * 1024;

function printsOf(content: Buffer): object {
  const prints: number[] = [];
  new Winnowing(64, (print) => void prints.push(print)).push(content);
  const bytes = Buffer.alloc(4 * prints.length);
  prints.forEach((print, index) => void bytes.writeUInt32LE(print, 4 * index));
  const owners = Buffer.alloc(prints.length).toString('base64');
  return { window: 64, folders: ['src/billing'], prints: bytes.toString('base64'), owners, cut: false };
}

describe('bodies to an opened host', () => {
  let world: TestBroker;
  let conversation = '';
  let count = 0;
  const taken: number[] = [];
  beforeAll(async () => {
    world = await TestBroker.start();
    await world.origin('api.example', (request, response) => {
      let bytes = 0;
      request.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      request.once('end', () => {
        taken.push(bytes);
        response.end(`took ${bytes}`);
      });
    });
    await world.rule(rule('api.example', {}));
  });
  afterAll(() => world?.close());
  beforeEach(() => {
    count += 1;
    conversation = `cnv_body_${count}`;
    world.control.prints = () => printsOf(FILE);
  });
  const post = (body: Buffer, headers: Record<string, string>) =>
    world.ask({
      host: 'api.example',
      method: 'POST',
      headers: { 'content-length': String(body.length), ...headers },
      body,
      line: { conversation, claim: `clm_${conversation}` },
    });
  const counted = async (): Promise<EgressBodyTally[]> => {
    const rows = () =>
      world.control.bodies.flatMap((batch) => batch.rows.filter((row) => row.conversation === conversation));
    await until('the body is counted', () => rows().length > 0, 30_000);
    return rows();
  };
  /** A body of any size, which the origin does not keep. */
  const stream = async (body: Readable): Promise<string> => {
    const socket = await world.secure({ host: 'api.example', conversation, claim: `clm_${conversation}` });
    const sent = httpRequest({
      createConnection: () => socket,
      method: 'POST',
      setHost: false,
      headers: {
        host: `api.example:${world.portOf('api.example')}`,
        'content-type': 'application/x-git-none',
        'transfer-encoding': 'chunked',
      },
    });
    const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
    await pipeline(body, sent);
    const [response] = await answered;
    let text = '';
    for await (const chunk of response as AsyncIterable<Buffer>) text += chunk.toString();
    socket.destroy();
    return text;
  };

  it('are counted with their type, and with how much of them is of the workspace', async () => {
    const body = Buffer.from(JSON.stringify({ note: 'x'.repeat(5_000), text: FILE.subarray(0, 12_000).toString() }));
    expect((await post(body, { 'content-type': 'Application/JSON; charset=utf-8' })).text).toBe(`took ${body.length}`);
    expect((await post(Buffer.from('short'), { 'content-type': 'application/json' })).status).toBe(200);
    const rows = await counted();
    const of = (folder: string) => rows.filter((row) => row.folder === folder);
    expect(of('')[0]).toMatchObject({ host: 'api.example', type: 'application/json', unreadBytes: 0 });
    expect(of('src/billing')[0]).toMatchObject({ type: 'application/json', requests: 0, bytes: 0 });
    const found = of('src/billing')[0]?.workspaceBytes ?? 0;
    expect(found).toBeGreaterThan(12_000 - 128);
    expect(found).toBeLessThanOrEqual(12_000);
    expect(of('')[0]?.workspaceBytes).toBe(found);
    expect(of('').reduce((sum, { requests, bytes }) => sum + requests * 10 ** 6 + bytes, 0)).toBe(
      2 * 10 ** 6 + body.length + 5,
    );
  });

  it('are unpacked before they are compared', async () => {
    const body = gzipSync(FILE);
    expect((await post(body, { 'content-encoding': 'gzip', 'content-type': 'text/plain' })).status).toBe(200);
    const [row] = await counted();
    expect(row).toMatchObject({ bytes: body.length, unreadBytes: 0 });
    expect(row?.workspaceBytes).toBeGreaterThan(FILE.length - 128);
  });

  it('of a content type that is none are counted as other', async () => {
    await post(FILE.subarray(0, 500), { 'content-type': '<b>text' });
    expect((await counted())[0]?.type).toBe('other');
  });

  it('that unpack to a gigabyte arrive as they were sent, and are compared in part', async () => {
    const zeros = Readable.from(
      (function* () {
        for (let piece = 0; piece < 1_024; piece += 1) yield Buffer.alloc(MIB);
      })(),
    );
    const packed: Buffer[] = [];
    for await (const chunk of zeros.pipe(createGzip()) as AsyncIterable<Buffer>) packed.push(chunk);
    const bomb = Buffer.concat(packed);
    expect((await post(bomb, { 'content-encoding': 'gzip', 'content-type': 'text/plain' })).text).toBe(
      `took ${bomb.length}`,
    );
    const [row] = await counted();
    expect(row?.bytes).toBe(bomb.length);
    expect(row?.unreadBytes).toBeGreaterThan(bomb.length / 2);
  });

  it('of a gigabyte pass, and neither memory nor what is compared grows with them', async () => {
    const before = process.memoryUsage().rss;
    const piece = Buffer.concat([FILE, FILE]).subarray(0, 32 * 1024);
    const body = Readable.from(
      (function* () {
        for (let index = 0; index < 32 * 1024; index += 1) yield piece;
      })(),
      { objectMode: false },
    );
    expect(await stream(body)).toBe(`took ${1024 * MIB}`);
    expect(process.memoryUsage().rss - before).toBeLessThan(400 * MIB);
    const rows = await counted();
    const row = rows.find(({ folder }) => folder === '');
    expect(row?.bytes).toBe(1024 * MIB);
    expect(row?.unreadBytes).toBeGreaterThan(512 * MIB);
    expect(row?.workspaceBytes).toBeGreaterThan(MIB);
  });

  it('pass at once while the sandbox never says its fingerprints, and are then said to be unread', async () => {
    const never = Promise.withResolvers<null>();
    world.control.prints = () => never.promise;
    const began = performance.now();
    for (let index = 0; index < 5; index += 1) await post(FILE, { 'content-type': 'text/plain' });
    expect(performance.now() - began).toBeLessThan(2_500);
    const [row] = await counted();
    expect(row).toMatchObject({ bytes: 5 * FILE.length, unreadBytes: 5 * FILE.length, workspaceBytes: 0 });
    never.resolve(null);
  });

  it('are unread where a hostile sandbox says too many fingerprints, or none that can be read', async () => {
    const said = printsOf(FILE);
    for (const prints of [
      { ...said, prints: 'A'.repeat(2 * MIB), owners: 'A'.repeat(MIB / 2) },
      { ...said, window: 1 },
      { ...said, folders: Array.from({ length: 300 }, (_, index) => `f${index}`) },
      'x',
    ]) {
      count += 1;
      conversation = `cnv_body_${count}`;
      world.control.prints = () => prints;
      expect((await post(FILE, { 'content-type': 'text/plain' })).status).toBe(200);
    }
    const [row] = await counted();
    expect(row).toMatchObject({ bytes: FILE.length, unreadBytes: FILE.length, workspaceBytes: 0 });
  });
});
