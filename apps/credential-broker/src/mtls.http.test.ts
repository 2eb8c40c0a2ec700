import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { TestAuthority, type TestCertificate } from './testing/test-authority.js';
import { credential, TestBroker } from './testing/test-broker.js';

const HOST = 'mtls.example.com';

describe('a client certificate', () => {
  let world: TestBroker;
  let clients: TestAuthority;
  let server: Server;
  let port = 0;
  let connections = 0;
  const seen: Array<{ readonly path: string; readonly client: string; readonly authorization: string | undefined }> =
    [];
  beforeAll(async () => {
    world = await TestBroker.start();
    clients = await TestAuthority.make('Clients');
    const own = await world.roots.issue(HOST);
    server = createServer(
      { ...own, ca: clients.cert, requestCert: true, rejectUnauthorized: false },
      (request, response) => {
        const socket = request.socket as TLSSocket;
        const { authorized } = socket;
        const client = authorized ? String(socket.getPeerCertificate().subject.CN) : 'none';
        seen.push({ path: request.url ?? '', client, authorization: request.headers.authorization });
        response.writeHead(authorized ? 200 : 403).end('hello');
      },
    );
    server.on('connection', () => {
      connections += 1;
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
    world.names.set(HOST, ['127.0.0.1']);
    world.origins.push({ name: HOST, port, seen: [], connections: () => connections, close: async () => {} });
  });
  beforeEach(() => {
    seen.length = 0;
    connections = 0;
  });
  afterAll(async () => {
    server?.closeAllConnections();
    await new Promise((closed) => server?.close(closed));
    await world?.close();
  });

  const pem = ({ cert, key }: TestCertificate): string => `${cert}\n${key}`;
  const certified = async (name: string, more: object = {}) =>
    credential({ form: 'mtls', places: [{ host: HOST, port, ...more }] }, { value: pem(await clients.issue(name)) });
  const line = () => ({ port });
  const ask = (path = '/', more: object = {}) => world.ask({ host: HOST, path, line: { ...line(), ...more } });

  it('is shown to the host, and no header carries it', async () => {
    await world.give(await certified('agents.example.com'));
    expect(await ask('/v1')).toMatchObject({ status: 200, text: 'hello' });
    expect(seen).toEqual([{ path: '/v1', client: 'agents.example.com', authorization: undefined }]);
    expect(await world.ask({ host: HOST, line: line(), headers: { authorization: 'Bearer mine' } })).toMatchObject({
      code: 'credential.foreign',
    });
  });

  it('adversary: on one connection of a sandbox each credential has a connection of its own to the host', async () => {
    const [one, other] = [
      await certified('one.example.com', { paths: ['/one/**'] }),
      await certified('other.example.com', { paths: ['/other/**'] }),
    ];
    const plain = credential({ form: 'bearer', places: [{ host: HOST, port, paths: ['/plain/**'] }] });
    await world.give(one, other, plain);
    const socket = await world.secure({ host: HOST, ...line() });
    for (const path of ['/one/a', '/other/a', '/plain/a', '/one/b', '/other/b', '/plain/b'])
      await world.askOn(socket, { host: HOST, path });
    socket.destroy();
    expect(seen.map(({ client }) => client)).toEqual([
      'one.example.com',
      'other.example.com',
      'none',
      'one.example.com',
      'other.example.com',
      'none',
    ]);
    expect(connections).toBe(3);
  });

  it('adversary: two sandboxes and two organizations share no connection', async () => {
    await world.give(await certified('agents.example.com'));
    const sockets = [
      await world.secure({ host: HOST, ...line() }),
      await world.secure({ host: HOST, ...line(), claim: 'clm_2' }),
      await world.secure({ host: HOST, ...line(), org: 'org_2' }),
    ];
    for (const socket of sockets) await world.askOn(socket, { host: HOST });
    for (const socket of sockets) socket.destroy();
    expect(connections).toBe(3);
  });

  it('is another one on a connection that is open once it has changed', async () => {
    const one = await certified('old.example.com');
    await world.give(one);
    const socket = await world.secure({ host: HOST, ...line() });
    await world.askOn(socket, { host: HOST });
    await world.give({ ...one, value: pem(await clients.issue('new.example.com')) });
    await world.askOn(socket, { host: HOST });
    socket.destroy();
    expect(seen.map(({ client }) => client)).toEqual(['old.example.com', 'new.example.com']);
  });

  it('(B6) adversary: a host with a certificate of nobody is not shown it', async () => {
    const wrong = await world.origin(
      'wrong.example.com',
      (_request, response) => response.end(),
      await world.authority.issue('wrong.example.com'),
    );
    const one = await certified('agents.example.com');
    await world.give({
      ...one,
      use: { ...one.use, places: [{ host: 'wrong.example.com', port: wrong.port, foreign: 'refuse' }] },
    });
    expect(await world.ask({ host: 'wrong.example.com' })).toMatchObject({
      status: 502,
      code: 'credential.unreachable',
    });
    expect(wrong.seen).toHaveLength(0);
  });

  it('one that cannot be read is refused in words, and nothing is sent', async () => {
    const one = await certified('agents.example.com');
    await world.give({ ...one, value: '-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----' });
    expect(await ask()).toMatchObject({ status: 403, code: 'credential.rejected' });
    expect(seen).toHaveLength(0);
  });
});
