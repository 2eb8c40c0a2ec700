import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@slipway/testing';
import { missingOfNodes, type Node } from './nodes.js';
import { preflight } from './preflight.js';

const DIGEST = `sha256:${'1'.repeat(64)}`;
const node = (name: string, more: Partial<Node> = {}): Node => ({
  metadata: { name, labels: { pool: name } },
  ...more,
});
const holding = (name: string, image: string): Node =>
  node(name, { status: { images: [{ names: [`${image}@${DIGEST}`] }] } });
/** As containerd writes what names no registry. */
const withImage = (name: string): Node => holding(name, 'docker.io/slipway/sandbox');
const template = { name: 'standard', image: `slipway/sandbox@${DIGEST}` };

describe('missing requirements of nodes', () => {
  const cases: readonly { readonly name: string; readonly missing: string[]; readonly says: readonly (string | RegExp)[] }[] = [
    { name: 'nothing, when the image is on one of them by its digest', missing: missingOfNodes([template], [node('a'), withImage('b')], []), says: [] },
    { name: 'the image, when its digest is there under another name, by which no pod finds it', missing: missingOfNodes([{ ...template, imagePullPolicy: 'Never' }], [holding('a', 'slipway.local/sandbox')], []), says: [/a of 1 nodes do not have slipway\/sandbox@sha256:1+ \(the digest is there as slipway\.local\/sandbox@sha256:1+: set sandboxes\.image\.repository/] },
    { name: 'nothing, when there is a registry', missing: missingOfNodes([{ ...template, image: `registry:5000/${template.image}` }], [node('a')], []), says: [] },
    { name: 'image and registry', missing: missingOfNodes([template], [node('a'), node('b')], []), says: [/no node has slipway\/sandbox@.*names no registry/] },
    { name: 'an image that nothing pulls, on some of them', missing: missingOfNodes([{ ...template, imagePullPolicy: 'Never' }], [withImage('a'), node('b')], []), says: [/nothing pulls it .* b of 2 nodes/] },
    { name: 'the labels', missing: missingOfNodes([{ ...template, nodeSelector: { pool: 'c' } }], [withImage('a')], []), says: [/has the labels pool=c/] },
    { name: 'a node that takes pods', missing: missingOfNodes([template], [node('a', { spec: { unschedulable: true } })], []), says: [/no node takes its sandboxes/] },
    { name: 'the runtime class', missing: missingOfNodes([{ ...template, runtimeClassName: 'gvisor' }], [withImage('a')], ['kata']), says: [/no RuntimeClass gvisor, only kata/] },
    { name: 'user namespaces, by the words of the runtime', missing: missingOfNodes([{ ...template, userNamespaces: true }], [node('a', { status: { ...withImage('a').status, runtimeHandlers: [{ name: '', features: {} }], nodeInfo: { kernelVersion: '6.8.0' } } })], []), says: [/no user namespaces/] },
    { name: 'user namespaces, by the kernel', missing: missingOfNodes([{ ...template, userNamespaces: true }], [node('a', { status: { ...withImage('a').status, nodeInfo: { kernelVersion: '5.15.0-91' } } })], []), says: [/no user namespaces/] },
  ]; // biome-ignore format: a table reads better in lines
  for (const { name, missing, says } of cases)
    it(name, () => {
      expect(missing).toHaveLength(says.length);
      for (const [index, words] of says.entries()) expect(missing[index]).toMatch(words);
    });
});

describe('preflight', () => {
  let database: TestDatabase;
  let web: Server;
  let address: string;
  let folder: string;
  const silent = createTcpServer();
  beforeAll(async () => {
    database = await createTestDatabase();
    folder = await mkdtemp('/tmp/slipway-test-');
    web = createServer((request, response) => {
      if (request.url?.startsWith('/realms/right/'))
        response.end(JSON.stringify({ issuer: `${address}/realms/right` }));
      else if (request.url?.startsWith('/realms/renamed/'))
        response.end(JSON.stringify({ issuer: 'https://another.example.com' }));
      else response.writeHead(404).end();
    });
    for (const server of [web, silent]) await once(server.listen(0, '127.0.0.1'), 'listening');
    address = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
    // A Redis that asks for a password.
    silent.on('connection', (socket) =>
      socket.on('error', () => {}).once('data', () => socket.write('-NOAUTH Authentication required.\r\n')),
    );
  });
  afterAll(async () => {
    web?.close();
    silent.close();
    await database?.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('finds nothing where everything is there, and lists its checks', async () => {
    const lines: string[] = [];
    const env = {
      DATABASE_OWNER_URL: database.ownerUrl,
      OIDC_ISSUER_URL: `${address}/realms/right`,
      LLM_BASE_URL: `${address}/v1`,
      WORKSPACE_STORE: `s3://bucket/prefix?endpoint=${encodeURIComponent(address)}`,
    };
    expect(await preflight(env, (line) => lines.push(line))).toEqual([]);
    expect(lines.sort()).toEqual([
      'ok       Postgres',
      'ok       bucket',
      'ok       identity provider',
      'ok       model',
    ]);
  });

  it('says everything that is wrong at once, each with the value that changes it', async () => {
    const ca = `${folder}/ca.crt`;
    await writeFile(ca, 'no certificate');
    const nobody = `127.0.0.1:1`;
    const wrong = await preflight(
      {
        DATABASE_OWNER_URL: `postgresql://slipway:x@${nobody}/slipway`,
        REDIS_URL: `redis://127.0.0.1:${(silent.address() as AddressInfo).port}/0`,
        OIDC_ISSUER_URL: `${address}/realms/renamed`,
        HTTPS_PROXY: `http://${nobody}`,
        WORKSPACE_STORE: `s3://bucket?endpoint=http://${nobody}`,
        NODE_EXTRA_CA_CERTS: ca,
        NODE_CHECKS: 'true',
        KUBERNETES_SERVICE_HOST: '127.0.0.1',
      },
      () => {},
    );
    const words = [
      /^Postgres at 127\.0\.0\.1:1 cannot be used: .*ECONNREFUSED/,
      /^Redis at .* refuses: NOAUTH/,
      /calls itself https:\/\/another\.example\.com/,
      /^proxy\.https: the proxy/,
      /^sandboxes\.workspaceStore\.url: /,
      /^privateCa: the file holds no certificate/,
      /^The nodes cannot be read/,
    ];
    expect(wrong).toHaveLength(words.length);
    for (const one of words) expect(wrong).toContainEqual(expect.stringMatching(one));
  });

  it('names the Secret that is missing instead of trying its variable as a password', async () => {
    const wrong = await preflight(
      {
        DATABASE_OWNER_URL: 'postgresql://slipway:$(DATABASE_OWNER_PASSWORD)@db/slipway',
        REDIS_URL: 'redis://:$(REDIS_PASSWORD)@redis/0',
      },
      () => {},
    );
    expect(wrong).toEqual([
      expect.stringContaining('postgresql.owner.existingSecret'),
      expect.stringContaining('redis.auth.existingSecret'),
    ]);
  });

  it('says when the owner of the database may not make roles', async () => {
    expect(await preflight({ DATABASE_OWNER_URL: database.urls.runtime }, () => {})).toEqual([
      expect.stringMatching(/slipway_runtime may not make roles\. ALTER ROLE/),
    ]);
  });
});
