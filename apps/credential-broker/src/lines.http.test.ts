import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { credential, LINE, type Origin, TestBroker } from './testing/test-broker.js';

describe('a connection to the broker', () => {
  let world: TestBroker;
  let origin: Origin;
  beforeAll(async () => {
    world = await TestBroker.start({ BROKER_CONNECTIONS_PER_SANDBOX: '3' });
    origin = await world.origin('api.example.com', (_request, response) => void response.end('hello'));
    await world.give(credential({ form: 'bearer', places: [{ host: 'api.example.com', port: origin.port }] }));
  });
  afterAll(() => world?.close());

  it('that egress-proxy has signed passes requests on with the credential', async () => {
    const [given] = world.control.credentials;
    expect(await world.ask({ host: 'api.example.com' })).toMatchObject({ status: 200, text: 'hello' });
    expect(origin.seen.at(-1)?.headers).toMatchObject({
      host: `api.example.com:${origin.port}`,
      authorization: `Bearer ${given?.value}`,
      'accept-encoding': 'identity',
    });
  });

  it('of a sandbox that speaks to it directly is closed, whatever it says first', async () => {
    const honest = world.signedLine({ host: 'api.example.com' });
    const [signature = '', body = ''] = [honest.slice(0, honest.indexOf(' ')), honest.slice(honest.indexOf(' ') + 1)];
    const lines = [
      'GET / HTTP/1.1\r\nHost: api.example.com\r\n\r\n',
      `x ${body}`,
      `${signature} ${body.replace('clm_1', 'clm_2')}`,
      `${signature.replace(/^\d+/, '1000000000')} ${body}`,
      `${'x'.repeat(9_000)}`,
      ` \n`,
      world.signedLine({ host: 'API.example.com' }),
      world.signedLine({ host: '-', port: 1 }),
    ];
    for (const line of lines) {
      const socket = await world.dial();
      socket.write(line.endsWith('\n') ? line : `${line}\n`);
      expect(await text(socket)).toBe('');
    }
  });

  it('whose first line was used before is closed', async () => {
    const line = world.signedLine({ host: 'api.example.com', tls: false });
    const request = `GET / HTTP/1.1\r\nHost: api.example.com\r\nConnection: close\r\n\r\n`;
    const first = await world.dial();
    first.write(line + request);
    expect(await text(first)).toMatch(/^HTTP\/1\.1 200/);
    const again = await world.dial();
    again.write(line + request);
    expect(await text(again)).toBe('');
  });

  it('that came by a path endpoint speaks HTTP without TLS, and byte by byte', async () => {
    const socket = await world.dial();
    const bytes = `${world.signedLine({ host: 'api.example.com', tls: false })}GET /x HTTP/1.1\r\nHost: api.example.com\r\nConnection: close\r\n\r\n`;
    for (const byte of bytes) socket.write(byte);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 [\s\S]*hello/);
  });

  it('shows a certificate for the host of the line alone, for a day', async () => {
    const socket = await world.secure({ host: 'api.example.com' });
    const leaf = socket.getPeerX509Certificate();
    expect(leaf?.subjectAltName).toBe('DNS:api.example.com');
    expect(leaf?.ca).toBe(false);
    expect(Date.parse(leaf?.validTo ?? '') - Date.now()).toBeLessThanOrEqual(24 * 3_600_000);
    expect(Date.parse(leaf?.validFrom ?? '')).toBeLessThan(Date.now() - 3_500_000);
    expect(socket.alpnProtocol).toBe('http/1.1');
    socket.destroy();
  });

  it('that fronts for another name ends with the alert unrecognized_name, and nothing is sent', async () => {
    const before = origin.connections();
    for (const name of ['evil.example.com', 'xapi.example.com', 'example.com'])
      await expect(world.secure({ host: 'api.example.com' }, name)).rejects.toThrow(
        /unrecognized.name|alert number 112/i,
      );
    expect(origin.connections()).toBe(before);
    const capitals = await world.secure({ host: 'api.example.com' }, 'API.example.com');
    capitals.destroy();
  });

  it('without a server name, or with no protocol in common, carries no request', async () => {
    const before = origin.seen.length;
    const socket = connectTls({
      socket: await world.connect({ host: 'api.example.com' }),
      ca: world.authority.cert,
      checkServerIdentity: () => undefined,
    });
    socket.on('error', () => {});
    socket.write('GET / HTTP/1.1\r\nHost: api.example.com\r\n\r\n');
    expect(await text(socket).catch(() => '')).toBe('');
    const other = connectTls({
      socket: await world.connect({ host: 'api.example.com' }),
      ca: world.authority.cert,
      servername: 'api.example.com',
      ALPNProtocols: ['h2'],
    });
    await expect(once(other, 'secureConnect')).rejects.toThrow(/no.application.protocol|alert number 120/i);
    expect(origin.seen.length).toBe(before);
  });

  it('beyond those that one sandbox may have is closed, and another sandbox does not notice', async () => {
    const claim = 'clm_many';
    const sockets = [];
    for (let each = 0; each < 3; each += 1) sockets.push(await world.secure({ host: 'api.example.com', claim }));
    await expect(world.secure({ host: 'api.example.com', claim })).rejects.toThrow();
    expect((await world.ask({ host: 'api.example.com' })).status).toBe(200);
    for (const socket of sockets) socket.destroy();
  });

  it('keeps its own connection to the host for the requests that follow, and ends with it', async () => {
    const before = origin.connections();
    const socket = await world.secure({ host: 'api.example.com' });
    for (let each = 0; each < 3; each += 1)
      expect((await world.askOn(socket, { host: 'api.example.com' })).status).toBe(200);
    expect(origin.connections()).toBe(before + 1);
    const closed = once(socket, 'close');
    socket.end();
    await closed;
    const other = await world.secure({ host: 'api.example.com', claim: LINE.claim });
    await world.askOn(other, { host: 'api.example.com' });
    expect(origin.connections()).toBe(before + 2);
    other.destroy();
  });
});
