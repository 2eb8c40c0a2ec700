import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readFirstBytes } from './lines/client-hello.js';
import { type Origin, startBytes, TestEgress } from './testing/test-egress.js';

/** A shared key, so that no certificate is needed. */
const PSK = { psk: Buffer.alloc(32, 7), identity: 'sandbox' };
const options = { ciphers: 'PSK-AES256-GCM-SHA384', maxVersion: 'TLSv1.2', minVersion: 'TLSv1.2' } as const;

describe('TLS through the proxy', () => {
  let world: TestEgress;
  let origin: Omit<Origin, 'seen'>;
  const received: Buffer[] = [];
  beforeAll(async () => {
    const server = createServer(
      { ...options, pskCallback: () => PSK.psk },
      (socket) => void socket.end(`hello ${String(socket.servername)}`),
    );
    origin = await startBytes((socket) => {
      socket.on('data', (chunk) => received.push(chunk));
      server.emit('connection', socket);
    });
    world = await TestEgress.start({
      EGRESS_PORTS: String(origin.port),
      EGRESS_TLS_PORTS: String(origin.port),
      EGRESS_PERMITTED_RANGES: '127.0.0.1',
    });
    world.names.set('mirror.example', ['127.0.0.1']);
  });
  afterAll(async () => {
    await world?.close();
    await origin?.close();
  });
  const handshake = async (servername: string): Promise<TLSSocket> => {
    const { socket } = await world.tunnel(`mirror.example:${origin.port}`);
    return connect({ socket, servername, ...options, pskCallback: () => PSK, checkServerIdentity: () => undefined });
  };

  it('is the two ends’ own: the proxy sees the server’s name and passes all else as it is', async () => {
    expect(await text(await handshake('mirror.example'))).toBe('hello mirror.example');
    expect(await text(await handshake('MIRROR.example'))).toBe('hello MIRROR.example');
  });

  for (const servername of ['evil.example', 'xmirror.example', ''])
    it(`that asks for ${servername === '' ? 'no server' : servername} behind a listed host is refused in words of TLS, and nothing of it reaches the host`, async () => {
      received.length = 0;
      const socket = await handshake(servername);
      const [error] = (await once(socket, 'error').catch((thrown: unknown) => [thrown])) as [Error & { code?: string }];
      expect(error.message).toMatch(/unrecognized name|alert number 112/i);
      expect(received).toEqual([]);
    });

  it('is all that passes on its ports: what is no TLS ends there', async () => {
    received.length = 0;
    for (const bytes of [
      'GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n',
      'SSH-2.0-x\r\n',
      '\x16',
      '\x16\x03\x01\x00\x05\x02\x00\x00\x01\x00',
      '\x15\x03\x03\x00\x02\x02\x28',
    ]) {
      const { socket } = await world.tunnel(`mirror.example:${origin.port}`);
      socket.end(Buffer.from(bytes, 'latin1'));
      expect(await text(socket).catch(() => '')).toBe('');
    }
    expect(received).toEqual([]);
  });
});

describe('the first bytes of a connection', () => {
  let hello: Buffer;
  beforeAll(async () => {
    let sent = Buffer.alloc(0);
    const origin = await startBytes((socket) => socket.on('data', (chunk) => (sent = Buffer.concat([sent, chunk]))));
    // What Node's own TLS 1.3 says, with its post-quantum key.
    const socket = connect({
      port: origin.port,
      host: '127.0.0.1',
      servername: 'mirror.example',
      ALPNProtocols: ['h2'],
    });
    socket.on('error', () => {});
    while (readFirstBytes(sent).kind === 'more') await new Promise((resolve) => setImmediate(resolve));
    hello = sent;
    socket.destroy();
    await origin.close();
  });

  it('name the server, in however many pieces and records they come', () => {
    expect(readFirstBytes(hello)).toEqual({ kind: 'hello', serverName: 'mirror.example' });
    for (let length = 0; length < hello.length; length += 1)
      expect(readFirstBytes(hello.subarray(0, length))).toEqual({ kind: 'more' });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 700 }), (size) => {
        const message = hello.subarray(5);
        const records: Buffer[] = [];
        for (let at = 0; at < message.length; at += size) {
          const part = message.subarray(at, at + size);
          records.push(Buffer.from([0x16, 3, 1, part.length >> 8, part.length & 255]), part);
        }
        expect(readFirstBytes(Buffer.concat(records))).toEqual({ kind: 'hello', serverName: 'mirror.example' });
      }),
    );
  });

  it('with a second name, or a name that is not whole, are refused', () => {
    const at = hello.indexOf('mirror.example', 0, 'latin1') - 9;
    const extension = hello.subarray(at, at + 9 + 'mirror.example'.length);
    expect(extension.readUInt16BE(0)).toBe(0);
    const twice = Buffer.concat([hello.subarray(0, at), extension, hello.subarray(at)]);
    for (const [place, size, more] of [
      [3, 2, extension.length],
      [6, 3, extension.length],
    ] as const)
      twice.writeUIntBE(twice.readUIntBE(place, size) + more, place, size);
    const extensions = at - extensionsBefore(hello, at) - 2;
    twice.writeUInt16BE(twice.readUInt16BE(extensions) + extension.length, extensions);
    expect(readFirstBytes(twice)).toEqual({ kind: 'malformed' });
    const short = Buffer.from(hello);
    short.writeUInt16BE(60_000, at + 7);
    expect(readFirstBytes(short)).toEqual({ kind: 'malformed' });
  });

  it('are read without harm, whatever they are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) =>
        expect(['more', 'not-tls', 'malformed', 'hello']).toContain(readFirstBytes(Buffer.from(bytes)).kind),
      ),
    );
    fc.assert(
      fc.property(fc.nat({ max: 400 }), fc.integer({ min: 0, max: 255 }), (place, value) => {
        const changed = Buffer.from(hello);
        changed[Math.min(place, changed.length - 1)] = value;
        expect(['more', 'not-tls', 'malformed', 'hello']).toContain(readFirstBytes(changed).kind);
      }),
    );
  });
});

/** How many bytes of extensions stand before the one at `at`: walks the fields of the hello. */
function extensionsBefore(hello: Buffer, at: number): number {
  let place = 5 + 4 + 34;
  place += 1 + hello.readUInt8(place);
  place += 2 + hello.readUInt16BE(place);
  place += 1 + hello.readUInt8(place);
  return at - place - 2;
}
