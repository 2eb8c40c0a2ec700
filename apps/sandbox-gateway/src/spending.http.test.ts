import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { CHARGE_PASS_HEADER } from '@slipway/contracts/agent';
import { until } from '@slipway/testing';
import type { WebSocket } from 'ws';
import { type Grant, TestGateway } from './testing/test-gateway.js';

const MESSAGE = JSON.stringify({
  role: 'user',
  content: [{ type: 'text', text: 'Spend.' }],
  sender_id: 'usr_victim',
  run: true,
});

describe('who pays for what is sent straight to agent-server', () => {
  let gateway: TestGateway;
  let mine: Grant;
  let events: string;

  beforeAll(async () => {
    gateway = await TestGateway.start();
  });
  afterAll(() => gateway?.close());
  beforeEach(async () => {
    mine = await gateway.grant();
    events = `/api/conversations/${mine.conversation}/events`;
    gateway.upstream.seen.splice(0);
  });

  const key = (grant: Grant): Record<string, string> => ({ 'x-session-api-key': grant.token });
  const post = async (grant: Grant, path: string): Promise<{ status: number; code: unknown }> => {
    const headers = { host: grant.host, 'content-type': 'application/json', ...key(grant) };
    const response = await gateway.request(path, { method: 'POST', headers, body: MESSAGE });
    const text = await response.body.text();
    return {
      status: response.statusCode,
      code: response.statusCode < 400 ? null : (JSON.parse(text) as { code: unknown }).code,
    };
  };
  const spender = async (conversation: string): Promise<unknown> =>
    (
      await gateway.owner.query('SELECT user_id FROM app.conversation_spender WHERE conversation_id = $1', [
        conversation,
      ])
    ).rows[0]?.user_id ?? null;
  /** As worker, when llm-gateway has taken it. */
  const acknowledge = (conversation: string): Promise<number | null> =>
    gateway.owner
      .query(
        'UPDATE app.conversation_spender SET applied = json_build_array(user_id, user_label, NULL)::text WHERE conversation_id = $1 AND applied IS NULL',
        [conversation],
      )
      .then(({ rowCount }) => rowCount);
  const acknowledged = (conversation: string): Promise<unknown> =>
    until('somebody pays', async () => (await acknowledge(conversation)) === 1);
  const exhaust = (grant: Grant, user = grant.user): Promise<unknown> =>
    gateway.owner.query(
      "INSERT INTO app.budget_stop (org_id, user_id, limit_usd, until) VALUES ($1, $2, 5, now() + interval '1 day')",
      [grant.org, user],
    );
  const closeOf = (socket: WebSocket): Promise<string> =>
    new Promise((resolve) =>
      socket.once('close', (code, reason) => resolve(`${code} ${String(reason).split(':')[0]}`)),
    );
  const reads = (socket: WebSocket): string[] => {
    const read: string[] = [];
    socket.on('message', (data) => void read.push(String(data)));
    return read;
  };

  it('is the user of the grant, whoever the body names, and agent-server has nothing before llm-gateway knows it', async () => {
    const sent = post(mine, events);
    await until('the user pays', async () => (await spender(mine.conversation)) === mine.user);
    expect(gateway.upstream.seen).toEqual([]);
    await acknowledged(mine.conversation);
    expect(await sent).toEqual({ status: 200, code: null });
    const colleague = await gateway.grant(8000, { conversation: mine.conversation, org: mine.org });
    const theirs = post(colleague, `/api/conversations/${mine.conversation}/run/`);
    await acknowledged(mine.conversation);
    expect([(await theirs).status, await spender(mine.conversation)]).toEqual([200, colleague.user]);
    expect((await post(colleague, events)).status).toBe(200);
  });

  it('refuses a member without budget in a colleague’s conversation with 402, by every route that makes a model work, and keeps who paid', async () => {
    await exhaust(mine);
    const at = `/api/conversations/${mine.conversation}`;
    for (const path of [
      `${at}/events`,
      `${at}/events/`,
      `${at}/events?x=1`,
      `${at}/run`,
      `${at}/ask_agent`,
      `${at}/condense`,
      '/api/conversations',
    ])
      expect({ path, ...(await post(mine, path)) }).toEqual({ path, status: 402, code: 'budget.exhausted' });
    expect([gateway.upstream.seen, await spender(mine.conversation)]).toEqual([[], null]);
    for (const path of [`${at}/pause`, `${at}/interrupt`, '/api/file/upload'])
      expect((await post(mine, path)).status).toBe(200);
    expect((await gateway.ask(mine, `${at}/events/search`, key(mine))).status).toBe(200);
    const byPath = await gateway.request(`/${mine.conversation}/8000${events}`, {
      method: 'POST',
      headers: key(mine),
      body: MESSAGE,
    });
    expect([byPath.statusCode, (await byPath.body.text()).includes('budget.exhausted')]).toEqual([402, true]);
  });

  it('refuses all users when the organization’s budget is used up', async () => {
    await exhaust(mine, '');
    expect(await post(mine, events)).toEqual({ status: 402, code: 'budget.exhausted' });
  });

  for (const what of ['ask_agent', 'condense'])
    it(`gives ${what} a pass of who asks, that llm-gateway knows before agent-server has it, and leaves the task to who pays for it`, async () => {
      const colleague = await gateway.grant(8000, { conversation: mine.conversation, org: mine.org });
      await gateway.pays(mine);
      const asked = post(colleague, `/api/conversations/${mine.conversation}/${what}`);
      const request = await until('the pass is asked for', async () => {
        const { rows } = await gateway.owner.query(
          'SELECT hash, org_id, conversation_id, user_id FROM app.charge_pass_request',
        );
        return rows[0] as { hash: Buffer; org_id: string; conversation_id: string; user_id: string } | undefined;
      });
      expect([request.org_id, request.conversation_id, request.user_id]).toEqual([
        mine.org,
        mine.conversation,
        colleague.user,
      ]);
      expect(gateway.upstream.seen).toEqual([]);
      await gateway.owner.query('DELETE FROM app.charge_pass_request');
      expect((await asked).status).toBe(200);
      const pass = gateway.upstream.seen[0]?.headers[CHARGE_PASS_HEADER] as string;
      expect(createHash('sha256').update(pass).digest()).toEqual(request.hash);
      expect(await spender(mine.conversation)).toBe(mine.user);
    });

  it('adversary: hands on no pass that a client sends', async () => {
    await gateway.pays(mine);
    for (const path of ['events', 'run']) {
      const headers = {
        host: mine.host,
        'content-type': 'application/json',
        ...key(mine),
        [CHARGE_PASS_HEADER]: 'stolen',
      };
      const response = await gateway.request(`/api/conversations/${mine.conversation}/${path}`, {
        method: 'POST',
        headers,
        body: MESSAGE,
      });
      await response.body.dump();
    }
    expect(gateway.upstream.seen.map(({ headers }) => headers[CHARGE_PASS_HEADER])).toEqual([undefined, undefined]);
  });

  it('refuses with 503 while llm-gateway does not acknowledge', async () => {
    const paths = [events, `/api/conversations/${mine.conversation}/ask_agent`];
    for (const refused of await Promise.all(paths.map((path) => post(mine, path))))
      expect(refused).toEqual({ status: 503, code: 'service.unavailable' });
    expect(gateway.upstream.seen).toEqual([]);
  });

  it('refuses with 503 when the database gives no answer, and lets everything else through', async () => {
    await gateway.owner.query('REVOKE SELECT ON app.budget_stop FROM slipway_sandbox');
    await gateway.owner.query(
      'REVOKE SELECT (org_id, user_id, limit_usd, until) ON app.budget_stop FROM slipway_sandbox',
    );
    expect(await post(mine, events)).toEqual({ status: 503, code: 'service.unavailable' });
    expect((await post(mine, `/api/conversations/${mine.conversation}/pause`)).status).toBe(200);
    await gateway.owner.query('GRANT SELECT (org_id, user_id, limit_usd, until) ON app.budget_stop TO slipway_sandbox');
  });

  for (const way of ['header', 'first frame'] as const) {
    const open = async (grant: Grant): Promise<WebSocket> => {
      const path = `/sockets/events/${grant.conversation}?resend_all=true`;
      if (way === 'header') return gateway.socket(grant.host, path, key(grant));
      const socket = await gateway.socket(grant.host, path);
      socket.send(JSON.stringify({ type: 'auth', session_api_key: grant.token }));
      return socket;
    };
    const CONFIRMATION = '{"type":"confirmation","accept":true}';
    const AUTH = '{"type":"auth","session_api_key":"x"}';

    it(`takes no message of a member without budget by a socket (${way}), also one in pieces, and lets them watch and answer`, async () => {
      await exhaust(mine);
      for (const inPieces of [false, true]) {
        const socket = await open(mine);
        const read = reads(socket);
        const closed = closeOf(socket);
        for (const frame of [AUTH, CONFIRMATION]) socket.send(frame);
        await until('both came back', () => read.length === 2);
        if (inPieces) socket.send(MESSAGE.slice(0, 20), { fin: false });
        socket.send(inPieces ? MESSAGE.slice(20) : MESSAGE);
        socket.send(MESSAGE);
        expect(await closed).toBe('1008 budget.exhausted');
        expect(read).toEqual([AUTH, CONFIRMATION]);
      }
      expect(await spender(mine.conversation)).toBeNull();
    });

    it(`counts a message by a socket for who sends it (${way}), in order and however it is cut, and nothing for who watches`, async () => {
      const watcher = await gateway.grant(8000, { conversation: mine.conversation, org: mine.org });
      const [socket, watching] = [await open(mine), await open(watcher)];
      const [read, watched] = [reads(socket), reads(watching)];
      watching.send(AUTH);
      await until('what the watcher said came back', () => watched.length === 1);
      expect(await spender(mine.conversation)).toBeNull();
      const long = JSON.stringify({ role: 'user', content: 'x'.repeat(200_000) });
      const said = [MESSAGE, CONFIRMATION, long, 'no JSON', MESSAGE];
      for (const each of said) socket.send(each);
      await acknowledged(mine.conversation);
      await until('all came back', () => read.length === said.length);
      expect([read, await spender(mine.conversation)]).toEqual([said, mine.user]);
      for (const each of [socket, watching]) each.terminate();
    });
  }

  it('leaves sockets of commands and channels as they were', async () => {
    await exhaust(mine);
    const socket = await gateway.socket(mine.host, '/sockets/bash-events', key(mine));
    const read = reads(socket);
    socket.send(MESSAGE);
    await until('it came back', () => read.length === 1);
    socket.terminate();
  });
});
