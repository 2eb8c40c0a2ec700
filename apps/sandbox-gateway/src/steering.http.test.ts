import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import type { WebSocket } from 'ws';
import { type Grant, TestGateway } from './testing/test-gateway.js';

describe('an insider who steers an agent by its files', () => {
  let gateway: TestGateway;
  let bob: Grant;
  beforeAll(async () => {
    gateway = await TestGateway.start();
  });
  afterAll(() => gateway?.close());
  beforeEach(async () => {
    bob = await gateway.grant();
    gateway.upstream.handler = (_request, response) => void response.end('{}');
    gateway.upstream.seen.splice(0);
  });

  const key = (grant: Grant): Record<string, string> => ({ 'x-session-api-key': grant.token });
  const send = async (
    grant: Grant,
    method: 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'GET' | 'HEAD',
    path: string,
  ): Promise<number> => {
    const response = await gateway.request(path, { method, headers: { host: grant.host, ...key(grant) } });
    await response.body.dump();
    return response.statusCode;
  };
  /** When what they did is covered until, as the database has it. Milliseconds from now. */
  const noted = async (grant: Grant): Promise<number | null> => {
    const { rows } = await gateway.owner.query<{ ms: number }>(
      'SELECT (extract(epoch FROM until - clock_timestamp()) * 1000)::float8 AS ms FROM app.sandbox_steering WHERE conversation_id = $1 AND user_id = $2 AND org_id = $3',
      [grant.conversation, grant.user, grant.org],
    );
    return rows[0]?.ms ?? null;
  };
  const forget = (grant: Grant) =>
    gateway.owner.query('DELETE FROM app.sandbox_steering WHERE conversation_id = $1', [grant.conversation]);

  it('is written down before the sandbox has an upload or a command', async () => {
    for (const [method, path] of [
      ['POST', '/api/file/upload/workspace/x'],
      ['POST', '/api/bash/execute_bash_command'],
      ['POST', '/api/conversations'],
      ['DELETE', '/api/bash/bash_events'],
    ] as const) {
      const grant = await gateway.grant();
      await gateway.pays(grant);
      const before: Array<number | null> = [];
      gateway.upstream.handler = (_request, response) => {
        void noted(grant).then((ms) => {
          before.push(ms);
          response.end('{}');
        });
      };
      expect({ path, status: await send(grant, method, path) }).toEqual({ path, status: 200 });
      expect({ path, covered: before.map((ms) => ms !== null && ms > 0) }).toEqual({ path, covered: [true] });
    }
  });

  it('is none by looking, by halting, and by what the log of the conversation names them for itself', async () => {
    const at = `/api/conversations/${bob.conversation}`;
    await gateway.pays(bob);
    for (const path of [
      `${at}/events`,
      `${at}/events/`,
      `${at}/run`,
      `${at}/pause`,
      `${at}/interrupt`,
      `${at}/events/respond_to_confirmation`,
    ])
      expect({ path, status: await send(bob, 'POST', path) }).toEqual({ path, status: 200 });
    for (const method of ['GET', 'HEAD'] as const)
      expect(await send(bob, method, '/api/file/download/workspace/x')).toBe(200);
    expect(await noted(bob)).toBeNull();
  });

  it('costs the database one write for many in a row', async () => {
    for (let times = 0; times < 5; times += 1) await send(bob, 'POST', '/api/file/upload/workspace/x');
    const first = await noted(bob);
    await forget(bob);
    await send(bob, 'POST', '/api/file/upload/workspace/x');
    expect([first !== null, await noted(bob)]).toEqual([true, null]);
  });

  it('is written down for as long as an upload takes that they hold back', async () => {
    let release = (): void => {};
    gateway.upstream.handler = (_request, response) => {
      release = () => response.end('{}');
    };
    const sent = send(bob, 'POST', '/api/file/upload/workspace/slow');
    await until('it has arrived', () => gateway.upstream.seen.length === 1);
    await forget(bob);
    await until('it is noted again', async () => (await noted(bob)) !== null);
    release();
    expect(await sent).toBe(200);
  });

  for (const way of ['header', 'first frame'] as const)
    it(`is written down at what they type into a terminal (${way}), and not at watching it`, async () => {
      const socket: WebSocket = await gateway.socket(
        bob.host,
        '/sockets/live/terminal',
        way === 'header' ? key(bob) : {},
      );
      if (way === 'first frame') socket.send(JSON.stringify({ type: 'auth', session_api_key: bob.token }));
      await until('it is open', () => gateway.upstream.sockets.size === 1);
      expect(await noted(bob)).toBeNull();
      const echoed = new Promise((resolve) => socket.once('message', (data) => resolve(String(data))));
      socket.send(Buffer.from('rm -rf src\n'));
      await echoed;
      expect(await noted(bob)).toBeGreaterThan(0);
      socket.terminate();
      await until('it is closed', () => gateway.upstream.sockets.size === 0);
    });

  it('gets nothing through that cannot be written down: a request is refused', async () => {
    await gateway.owner.query('REVOKE EXECUTE ON FUNCTION app.steer_through_sandbox FROM PUBLIC');
    try {
      expect([
        await send(bob, 'POST', '/api/file/upload/workspace/x'),
        await send(bob, 'GET', '/api/file/download/workspace/x'),
      ]).toEqual([503, 200]);
      expect(gateway.upstream.seen.map(({ method }) => method)).toEqual(['GET']);
    } finally {
      await gateway.owner.query('GRANT EXECUTE ON FUNCTION app.steer_through_sandbox TO PUBLIC');
    }
  });
});
