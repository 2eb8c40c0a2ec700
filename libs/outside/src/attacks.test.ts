import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SlipwayError } from '@slipway/errors';
import { type Agent, request } from 'undici';
import { assertOutside } from './assert-outside.js';
import { isRefusedAddress, type Lookup, outsideAgent, outsideSocket } from './outside-agent.js';
import { problemOfUrl } from './url.js';

/** A tenant's URL, and a word of why it is refused before anything is resolved or connected to. */
const REFUSED: readonly (readonly [url: string, why: string])[] = [
  ['http://example.com/', 'https'],
  ['ftp://example.com/', 'https'],
  ['file:///etc/passwd', 'https'],
  ['gopher://127.0.0.1:6379/_FLUSHALL', 'https'],
  ['https://127.0.0.1/', 'not public'],
  ['https://127.1/', 'not public'],
  ['https://0x7f.1/', 'not public'],
  ['https://0177.0.0.1/', 'not public'],
  ['https://2130706433/', 'not public'],
  ['https://0/', 'not public'],
  ['https://10.0.0.1/', 'not public'],
  ['https://172.31.255.255/', 'not public'],
  ['https://192.168.0.1/', 'not public'],
  ['https://100.64.0.1/', 'not public'],
  ['https://169.254.169.254/latest/meta-data/', 'not public'],
  ['https://168.63.129.16/', 'not public'],
  ['https://198.18.0.1/', 'not public'],
  ['https://224.0.0.1/', 'not public'],
  ['https://255.255.255.255/', 'not public'],
  ['https://[::]/', 'not public'],
  ['https://[::1]/', 'not public'],
  ['https://[::ffff:10.0.0.1]/', 'not public'],
  ['https://[::ffff:a00:1]/', 'not public'],
  ['https://[::127.0.0.1]/', 'not public'],
  ['https://[64:ff9b::a9fe:a9fe]/', 'not public'],
  ['https://[2002:a00:1::]/', 'not public'],
  ['https://[2001:0:a00:1::]/', 'not public'],
  ['https://[fd00:ec2::254]/', 'not public'],
  ['https://[fe80::1]/', 'not public'],
  ['https://[ff02::1]/', 'not public'],
  ['https://localhost/', 'inside of a network'],
  ['https://LOCALHOST./', 'inside of a network'],
  ['https://ｌｏｃａｌｈｏｓｔ/', 'inside of a network'],
  ['https://metadata.google.internal/', 'inside of a network'],
  ['https://db.internal/', 'inside of a network'],
  ['https://printer.local/', 'inside of a network'],
  ['https://kubernetes/', 'inside of a network'],
  ['https://example.com:22/', 'another service'],
  ['https://example.com:25/', 'another service'],
  ['https://example.com:6667/', 'another service'],
];

describe('an address that a tenant typed', () => {
  for (const [url, why] of REFUSED)
    it(`is refused: ${url}`, async () => {
      expect(problemOfUrl(new URL(url))).toContain(why);
      await expect(assertOutside(url, false, () => Promise.reject(new Error('was resolved')))).rejects.toThrow(why);
    });

  it('is refused at saving with a user in it, with one private address of many, or without any form of a URL', async () => {
    const both = async (): Promise<string[]> => ['8.8.8.8', '10.1.2.3'];
    await expect(assertOutside('https://both.example/', false, both)).rejects.toThrow('not public');
    await expect(assertOutside('https://user:pw@8.8.8.8/', false)).rejects.toThrow('keep that as a secret');
    await expect(assertOutside('not a url', false)).rejects.toThrow('not a URL');
  });

  it('is taken at saving when all its addresses are public, or none is known yet', async () => {
    await assertOutside('https://fine.example/', false, async () => ['8.8.8.8', '2606:4700::1111']);
    await assertOutside('https://later.example:8443/v1', false, () => Promise.reject(new Error('ENOTFOUND')));
    await assertOutside('https://[2606:4700::1111]/', false);
    await assertOutside('http://10.0.0.1:8080/v1', true);
    await expect(assertOutside('file:///etc/passwd', true)).rejects.toThrow('https');
  });
});

describe('a connection to an address that a tenant typed', () => {
  let server: Server;
  let port: number;
  let connections = 0;
  beforeAll(async () => {
    server = createServer((_request, response) => response.end('inside'));
    server.on('connection', () => {
      connections += 1;
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ({ port } = server.address() as AddressInfo);
  });
  afterAll(async () => {
    await Promise.all(agents.map((each) => each.destroy()));
    server?.close();
  });

  /** A name service that answers one list a question; the last one stays. */
  const names = (...answers: readonly (readonly string[])[]): { readonly find: Lookup; readonly asked: string[] } => {
    const asked: string[] = [];
    const find: Lookup = (host, _options, done) => {
      const addresses = answers[Math.min(asked.length, answers.length - 1)] ?? [];
      asked.push(host);
      done(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      );
    };
    return { find, asked };
  };
  const agents: Agent[] = [];
  const call = (url: string, find: Lookup, withinMs = 10_000): Promise<unknown> => {
    const agent = outsideAgent({}, find);
    agents.push(agent);
    return request(url, { dispatcher: agent, signal: AbortSignal.timeout(withinMs) }).then(
      ({ body }) => body.text(),
      (error: unknown) => error,
    );
  };

  it('adversary: is made to none of the addresses of the table, and none is resolved', async () => {
    const { find, asked } = names(['127.0.0.1']);
    for (const [url] of REFUSED.filter(([each]) => /^https?:/.test(each)))
      expect([url, refusedOrNot(await call(url, find))]).toEqual([url, 'refused']);
    expect([asked, connections]).toEqual([[], 0]);
  });

  it('adversary: is made to no name with a private address, alone or beside a public one, whichever comes first', async () => {
    for (const addresses of [['127.0.0.1'], ['8.8.8.8', '127.0.0.1'], ['127.0.0.1', '8.8.8.8'], ['::1'], []]) {
      const { find } = names(addresses);
      expect([addresses, refusedOrNot(await call(`https://rebound.example:${port}/`, find))]).toEqual([
        addresses,
        'refused',
      ]);
    }
    expect(connections).toBe(0);
  });

  it('adversary: a name that was public when it was saved and is private when it is called is refused', async () => {
    await assertOutside(`https://rebound.example:${port}/`, false, async () => ['8.8.8.8']);
    const { find } = names(['127.0.0.1']);
    expect(refusedOrNot(await call(`https://rebound.example:${port}/`, find))).toBe('refused');
    expect(connections).toBe(0);
  });

  it('adversary: a name that changes between check and connection gains nothing: it is resolved once', async () => {
    const { find, asked } = names(['2001:4860:4860::8888'], ['127.0.0.1']);
    expect(await call(`https://twice.example:${port}/`, find, 500)).toBeInstanceOf(Error);
    expect([asked, connections]).toEqual([['twice.example'], 0]);
  });

  it('adversary: a WebSocket is refused as a request is, by its URL and by what its name resolves to', async () => {
    for (const url of [`wss://127.0.0.1:${port}/`, 'ws://example.com/', `wss://localhost:${port}/`, 'nonsense'])
      expect(() => outsideSocket(url, { anywhere: false })).toThrow(SlipwayError);
    const { find } = names(['127.0.0.1']);
    const socket = outsideSocket(`wss://rebound.example:${port}/`, { anywhere: false }, find);
    const error = await new Promise<unknown>((resolve) => socket.once('error', resolve));
    expect([refusedOrNot(error), connections]).toEqual(['refused', 0]);
  });
});

const refusedOrNot = (error: unknown): string => (isRefusedAddress(error) ? 'refused' : String(error));
