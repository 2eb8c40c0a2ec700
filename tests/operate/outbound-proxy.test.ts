import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const run = promisify(execFile);
/**
 * A service's name means nothing on this machine: a client that resolves it by itself fails, and the proxy is not used.
 */
const DIRECT = expect.stringMatching(/^(ENOTFOUND|EAI_AGAIN|TimeoutError)/);
const CALLS = path.join(import.meta.dirname, 'outbound-calls.ts');

describe('behind a forward proxy, with a certificate authority of its own', () => {
  let folder: string;
  const servers: Server[] = [];
  /** What the proxy was asked for, and what came to an address directly. */
  const proxied: string[] = [];
  const direct: string[] = [];
  let addresses: Record<'proxy' | 'issuer' | 'bucket' | 'sandbox' | 'service', string>;

  const listen = async (server: Server, address = '127.0.0.1'): Promise<number> => {
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, address, resolve));
    return (server.address() as AddressInfo).port;
  };

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-proxy-'));
    const key = path.join(folder, 'key.pem');
    const certificate = path.join(folder, 'ca.crt');
    const subject = ['-subj', '/CN=outside', '-addext', 'subjectAltName=DNS:*.outside.example'];
    await run('openssl', [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-days',
      '2',
      '-keyout',
      key,
      '-out',
      certificate,
      ...subject,
    ]);
    const keys = '{"keys":[{"kty":"RSA","kid":"k"}]}';
    const list = '<ListBucketResult><KeyCount>1</KeyCount><Contents><Key>x</Key></Contents></ListBucketResult>';
    const world = ({ headers }: IncomingMessage, response: ServerResponse): void =>
      void response.end(headers.host?.startsWith('id.') === true ? keys : list);
    const outside = await listen(
      createTlsServer({ key: await readFile(key), cert: await readFile(certificate) }, world) as unknown as Server,
    );
    // Names of the outside lead nowhere on this machine: only by the proxy is anything reached there.
    const proxy = createServer((_request, response) => void response.writeHead(502).end());
    proxy.on('connect', (request, client) => {
      proxied.push(request.url ?? '');
      const server = connect(outside, '127.0.0.1', () => client.write('HTTP/1.1 200 Connection established\r\n\r\n'));
      client.pipe(server).pipe(client);
      for (const end of [client, server]) end.on('error', () => end.destroy());
    });
    const inside = createServer((request, response) => {
      direct.push(String(request.headers.host?.split(':')[0]));
      response.end('{}');
    });
    // Another address of this machine, which no entry of NO_PROXY names: as a pod's.
    const pod = await listen(inside, '127.0.0.9');
    addresses = {
      proxy: `http://127.0.0.1:${await listen(proxy)}`,
      issuer: 'https://id.outside.example/keys',
      bucket: 'https://s3.outside.example',
      sandbox: `http://127.0.0.9:${pod}`,
      service: 'http://slipway-runtime-api.slipway.svc.cluster.local:3002/ready',
    };
  });
  afterAll(async () => {
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
    await rm(folder, { recursive: true, force: true });
  });

  const calls = async (env: Readonly<Record<string, string>>): Promise<Record<string, string>> => {
    proxied.length = 0;
    direct.length = 0;
    const { stdout } = await run(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', CALLS, JSON.stringify(addresses)],
      {
        env: {
          PATH: process.env['PATH'],
          NODE_USE_ENV_PROXY: '1',
          HTTP_PROXY: addresses.proxy,
          HTTPS_PROXY: addresses.proxy,
          NO_PROXY: 'localhost,127.0.0.1,.svc,.cluster.local',
          ...env,
        },
      },
    );
    return JSON.parse(stdout) as Record<string, string>;
  };

  it('the issuer and the bucket are called by the proxy, sandboxes and services of the cluster are not', async () => {
    expect(await calls({ NODE_EXTRA_CA_CERTS: path.join(folder, 'ca.crt') })).toEqual({
      issuer: '1',
      bucket: 'true',
      sandbox: '"interrupted"',
      service: DIRECT,
    });
    expect(proxied).toEqual(['id.outside.example:443', 's3.outside.example:443']);
    expect(direct).toEqual(['127.0.0.9']);
  });

  it('a client without the authority trusts no server with its certificate', async () => {
    const said = await calls({});
    expect([said['issuer'], said['bucket']]).toEqual([
      expect.stringMatching(/^DEPTH_ZERO_SELF_SIGNED_CERT/),
      expect.stringMatching(/^DEPTH_ZERO_SELF_SIGNED_CERT/),
    ]);
    expect(proxied).toContain('id.outside.example:443');
  });
});
