import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CALLER_KEY_HEADER, CALLER_USER_HEADER, callerUserHeader, callerUserOf } from '@slipway/contracts/agent';
import { THROUGH_GATEWAY_HEADER } from '@slipway/contracts/sandboxes';
import { until } from '@slipway/testing';
import { GATEWAY_KEY, type Grant, SESSION_KEY, TestGateway } from './testing/test-gateway.js';

describe('what the gateway says of its callers to agent-server', () => {
  let gateway: TestGateway;
  let mine: Grant;
  beforeAll(async () => {
    gateway = await TestGateway.start();
    mine = await gateway.grant();
    await gateway.owner.query("INSERT INTO app.user_account (id, issuer, subject, name) VALUES ($1, 'i', $1, 'Bób')", [
      mine.user,
    ]);
  });
  afterAll(() => gateway?.close());

  const BOB = () => ({ id: mine.user, label: 'Bób', kind: 'user' });
  const said = () => {
    const headers = gateway.upstream.seen.at(-1)?.headers ?? {};
    return [
      headers['x-session-api-key'],
      headers[CALLER_KEY_HEADER],
      callerUserOf(String(headers[CALLER_USER_HEADER])),
      headers[THROUGH_GATEWAY_HEADER],
    ];
  };
  /** What an insider would send to impersonate another user. */
  const forged = {
    [CALLER_KEY_HEADER]: 'mine',
    [CALLER_USER_HEADER]: callerUserHeader({ id: 'usr_ada', label: 'Ada', kind: 'user' }),
    'X-Slipway-Caller-User': 'x',
    'x-slipway-anything': 'x',
    connection: `${CALLER_KEY_HEADER}, ${CALLER_USER_HEADER}, ${THROUGH_GATEWAY_HEADER}`,
  };

  it('is its own key and the name of the grant, whatever an insider sends in the same headers', async () => {
    await gateway.ask(mine, '/', { 'x-session-api-key': mine.token });
    expect(said()).toEqual([SESSION_KEY, GATEWAY_KEY, BOB(), 'sandbox-gateway']);
    await gateway.plain('/', { host: mine.host, authorization: `Bearer ${mine.token}`, ...forged });
    expect(said()).toEqual([SESSION_KEY, GATEWAY_KEY, BOB(), 'sandbox-gateway']);
    expect(gateway.upstream.seen.at(-1)?.headers['x-slipway-anything']).toBeUndefined();
  });

  it('is the same for sockets, by header and by first frame', async () => {
    const { connection: _, ...headers } = forged;
    const socket = await gateway.socket(mine.host, '/sockets/events/a', {
      'x-session-api-key': mine.token,
      ...headers,
    });
    expect(said()).toEqual([SESSION_KEY, GATEWAY_KEY, BOB(), 'sandbox-gateway']);
    socket.close();
    const before = gateway.upstream.seen.length;
    const second = await gateway.socket(mine.host, '/sockets/events/b', headers);
    second.send(JSON.stringify({ type: 'auth', session_api_key: mine.token }));
    await until('the sandbox was asked', () => gateway.upstream.seen.length > before);
    expect(said()).toEqual([SESSION_KEY, GATEWAY_KEY, BOB(), 'sandbox-gateway']);
    second.close();
  });

  it('names a service account as what it is', async () => {
    const robot = await gateway.grant();
    await gateway.owner.query('DELETE FROM app.membership WHERE user_id = $1', [robot.user]);
    await gateway.owner.query('UPDATE app.sandbox_grant SET session_id = NULL WHERE id = $1', [robot.id]);
    await gateway.owner.query(
      "INSERT INTO app.service_account (id, org_id, name, role, created_by, created_by_label) VALUES ($1, $2, 'Nightly', 'member', 'usr_bob', 'Bob')",
      [robot.user, robot.org],
    );
    await gateway.ask(robot);
    expect(said()[2]).toEqual({ id: robot.user, label: 'Nightly', kind: 'service-account' });
  });

  it('is not pushed out by others: more than a hundred headers are refused, of requests and of sockets', async () => {
    const many = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`x-${index}`, '']));
    const before = gateway.upstream.seen.length;
    const answer = await gateway.ask(mine, '/', { 'x-session-api-key': mine.token, ...many });
    expect([answer.status, (JSON.parse(answer.text) as { code: string }).code]).toEqual([
      431,
      'request.headers-too-many',
    ]);
    await expect(
      gateway.socket(mine.host, '/sockets/events/a', { 'x-session-api-key': mine.token, ...many }),
    ).rejects.toThrow('431');
    await expect(gateway.socket(mine.host, '/sockets/events/a', many)).rejects.toThrow('431');
    expect(gateway.upstream.seen.length).toBe(before);
  });
});
