import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CreatedApiKey, DeviceAuthorization } from '@slipway/contracts/identity';
import { freePort, until } from '@slipway/testing';
import { io } from 'socket.io-client';
import { ConversationApp, type User } from '../../testing/conversation-app.js';
import { makeKey, withKey } from '../../testing/with-key.js';

/** A server as it runs in production, in a process of its own, saying all that it ever says. */
describe('the logs of app-server, at their most talkative', () => {
  let app: ConversationApp;
  let user: User;
  let url: string;
  let child: ChildProcess;
  let log = '';
  beforeAll(async () => {
    app = await ConversationApp.start();
    user = await app.user('Ada');
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    child = spawn(process.execPath, [fileURLToPath(new URL('../../main.js', import.meta.url))], {
      env: {
        LOG_LEVEL: 'trace',
        NODE_ENV: 'test',
        PORT: String(port),
        METRICS_PORT: '0',
        PUBLIC_URL: url,
        DATABASE_URL: app.database.urls.app,
        OIDC_ISSUER_URL: 'http://127.0.0.1:9/realms/none',
        OIDC_CLIENT_ID: 'none',
        OIDC_CLIENT_SECRET: 'none',
        SESSION_SECRET: 'test-session-secret-test-session-secret',
        ENCRYPTION_KEY: 'test-encryption-key-test-encryption-key',
        INGEST_SECRET: 'test-ingest-secret-test-ingest-secret',
        LLM_GATEWAY_URL: 'http://127.0.0.1:9',
        LLM_GATEWAY_MASTER_KEY: 'test-master-key-test-master-key-test',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (bytes: Buffer) => {
        log += String(bytes);
      });
    await until(
      'the server to be ready',
      async () => (await fetch(`${url}/ready`, { signal: AbortSignal.timeout(2_000) })).ok,
      60_000,
    );
  });
  afterAll(async () => {
    const ended = new Promise((resolve) => child?.once('exit', resolve));
    child?.kill('SIGTERM');
    if (child !== undefined) await ended;
    await app?.close();
  });

  it('hold no token and no code, whatever is done with them and however they are sent', async () => {
    const keys = `/api/v1/orgs/${user.orgId}/api-keys`;
    const first = await makeKey(app, user, ['api-key:read', 'api-key:write', 'conversation:read']);
    const made = await withKey<CreatedApiKey>(url, first.token, 'POST', keys, {
      name: 'x',
      scopes: ['conversation:read'],
    });
    const rotated = await withKey<CreatedApiKey>(url, first.token, 'POST', `${keys}/${made.body.id}/rotate`, {});
    const broken = `${first.token.slice(0, -1)}${first.token.endsWith('0') ? '1' : '0'}`;
    for (const token of [made.body.token, rotated.body.token, broken])
      await withKey(url, token, 'GET', `/api/v1/orgs/${user.orgId}/conversations`);
    // Where it does not belong: in a body that is refused, and beside a socket.
    await withKey(url, first.token, 'POST', keys, { name: 'x', scopes: [first.token] });
    for (const token of [first.token, broken]) {
      const socket = io(url, { auth: { token }, transports: ['websocket'], reconnection: false });
      await new Promise<void>((resolve) =>
        socket.once('connect', () => resolve()).once('connect_error', () => resolve()),
      );
      socket.disconnect();
    }
    const asked = (await (
      await fetch(`${url}/oauth/device/authorize`, { method: 'POST', body: new URLSearchParams({ client_id: 'cli' }) })
    ).json()) as DeviceAuthorization;
    const poll = async (): Promise<Record<string, string>> =>
      (await (
        await fetch(`${url}/oauth/device/token`, {
          method: 'POST',
          body: new URLSearchParams({ device_code: asked.device_code }),
        })
      ).json()) as Record<string, string>;
    expect(await poll()).toMatchObject({ error: 'authorization_pending' });
    expect(
      (
        await app.http(user, 'POST', `/api/v1/device/${asked.user_code}/approve`, {
          org: user.orgId,
          scopes: ['conversation:read'],
        })
      ).status,
    ).toBe(204);
    const token = (await poll())['access_token'] ?? '';
    expect(token).toMatch(/^slp_dev_/);
    expect((await withKey(url, first.token, 'DELETE', `${keys}/${first.id}`)).status).toBe(204);

    await until('the last request to be in the log', () => log.includes(first.id) || log.includes('DELETE'));
    for (const each of [first.token, made.body.token, rotated.body.token, token])
      expect(log).not.toContain(each.slice(-49, -6));
    expect(log).not.toContain(asked.device_code);
    expect(log).not.toContain(broken.slice(-49, -6));
  });
});
