import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createResolver, type Resolve } from './resolver.js';

const A = 1;
const AAAA = 28;
const ANSWERS: Readonly<Record<string, Readonly<Record<number, readonly number[]>>>> = {
  'both.example': { [A]: [192, 0, 2, 7], [AAAA]: [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1] },
  'old.example': { [A]: [192, 0, 2, 8] },
};

describe('names', () => {
  let server: Socket;
  let resolve: Resolve;
  const questions = new Set<string>();
  beforeAll(async () => {
    server = createSocket('udp4');
    server.on('message', (query, { port }) => server.send(answerTo(query, questions), port, '127.0.0.1'));
    server.bind(0, '127.0.0.1');
    await once(server, 'listening');
    resolve = createResolver([`127.0.0.1:${(server.address() as AddressInfo).port}`]);
  });
  afterAll(() => void server.close());

  it('have all addresses of both families, asked of the servers that were named', async () => {
    expect([...(await resolve('both.example'))].sort()).toEqual(['192.0.2.7', '2001:db8::1']);
    expect(await resolve('old.example')).toEqual(['192.0.2.8']);
  });

  it('that do not exist have none, and no other name is tried in their place', async () => {
    questions.clear();
    await expect(resolve('kubernetes.default')).rejects.toThrow('ENOTFOUND');
    expect([...questions]).toEqual(['kubernetes.default']);
    await expect(resolve('localhost')).rejects.toThrow();
  });
});

/** The answer of a name service that knows ANSWERS and nothing else. */
function answerTo(query: Buffer, questions: Set<string>): Buffer {
  const labels: string[] = [];
  let at = 12;
  for (; query[at] !== 0; at += 1 + (query[at] ?? 0))
    labels.push(query.toString('latin1', at + 1, at + 1 + (query[at] ?? 0)));
  const name = labels.join('.').toLowerCase();
  questions.add(name);
  const known = ANSWERS[name];
  const data = known?.[query.readUInt16BE(at + 1)];
  const head = Buffer.from(query.subarray(0, at + 5));
  head.writeUInt16BE(known === undefined ? 0x8183 : 0x8180, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(data === undefined ? 0 : 1, 6);
  head.writeUInt32BE(0, 8);
  if (data === undefined) return head;
  const record = Buffer.concat([
    Buffer.from([0xc0, 12]),
    query.subarray(at + 1, at + 5),
    Buffer.from([0, 0, 0, 0, 0, data.length]),
    Buffer.from(data),
  ]);
  return Buffer.concat([head, record]);
}
