import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  CALLER_KEY_HEADER,
  CALLER_USER_HEADER,
  type ConversationInfo,
  callerUserHeader,
} from '@slipway/contracts/agent';
import { type OrgConfirmationPolicy } from '@slipway/contracts/conversations';
import { type ConversationEvent } from '@slipway/contracts/events';
import { type ModelServer, startModelServer, until } from '@slipway/testing';
import { WebSocket } from 'ws';
import { TestSandbox } from '../testing/sandbox.js';
import { TestApp } from '../testing/test-app.js';

const FINISH = { toolCalls: [{ name: 'finish', arguments: { message: 'done' } }] };
const BOB = { id: 'usr_bob', label: 'Bób', kind: 'user' } as const;
const FOUR_EYES: OrgConfirmationPolicy = { floor: 'always', fourEyes: true };
const NONE: OrgConfirmationPolicy = { floor: 'never', fourEyes: false };

describe('the callers of an agent-server', () => {
  let sandbox: TestSandbox;
  let model: ModelServer;
  const models: ModelServer[] = [];
  let app: TestApp;
  const others: TestSandbox[] = [];
  beforeAll(async () => {
    [sandbox, app] = await Promise.all([TestSandbox.start(), new TestApp().start()]);
  });
  afterEach(async () => {
    await Promise.all(others.splice(0).map((other) => other.close()));
  });
  afterAll(() => Promise.all([sandbox.close(), app.close(), ...models.map((each) => each.close())]));

  type Headers = Record<string, string>;
  const sessionKeyAlone = (of: TestSandbox): Headers => ({ 'x-session-api-key': of.sessionKey });

  const startOf = (id: string, orgConfirmation: OrgConfirmationPolicy, of: TestSandbox, epoch: number) => ({
    conversation_id: id,
    agent: { llm: { model: 'openai/scripted', base_url: model.url, num_retries: 0 } },
    workspace: { working_dir: of.workspace, kind: 'LocalWorkspace' },
    confirmation_policy: { kind: 'AlwaysConfirm' },
    slipway: { epoch, ingestUrl: app.url, ingestToken: 'token', head: 0, resumeRun: false, orgConfirmation },
  });

  /** A conversation of the app in which each command is asked for, and every file that they would make. */
  async function asking(orgConfirmation: OrgConfirmationPolicy, files = 1, of = sandbox, headers = of.asApp) {
    await app.close();
    app = await new TestApp().start();
    const names = Array.from({ length: files }, () => randomUUID());
    // Of its own: what another conversation still asks for takes no turn of this one.
    model = await startModelServer({ script: [] });
    models.push(model);
    model.use([
      ...names.map((name) => ({ toolCalls: [{ name: 'terminal', arguments: { command: `touch ${name}` } }] })),
      FINISH,
    ]);
    const id = randomUUID();
    const at = `/api/conversations/${id}`;
    expect(
      (await of.call('POST', '/api/conversations', startOf(id, orgConfirmation, of, app.epoch), headers)).status,
    ).toBe(201);
    const say = (text: string, as: Headers = of.asApp, more: object = {}) =>
      of.call<{ code?: string }>(
        'POST',
        `${at}/events`,
        { role: 'user', content: [{ type: 'text', text }], run: true, ...more },
        as,
      );
    const status = (wanted: string) =>
      until(
        `it is ${wanted}`,
        async () => (await of.call<ConversationInfo>('GET', at)).body.execution_status === wanted,
        20_000,
      );
    const events = async () =>
      (await of.call<{ items: ConversationEvent[] }>('GET', `${at}/events/search?limit=100`)).body.items;
    return {
      id,
      at,
      say,
      status,
      events,
      made: () => names.filter((name) => existsSync(path.join(of.workspace, name))).length,
    };
  }
  const post = async (of: TestSandbox, route: string, body: object, headers: Headers): Promise<string> => {
    const answer = await of.call<{ code?: string }>('POST', route, body, headers);
    return `${answer.status} ${answer.body.code ?? ''}`.trim();
  };
  const answersIn = (events: readonly ConversationEvent[]) =>
    events.flatMap((event) =>
      event.kind === 'ConversationStateUpdateEvent' && event.key === 'confirmation' ? [event.value] : [],
    );

  it('carry out nothing by repeating a run while the agent works, not even the app', async () => {
    const { at, say, status, made, events } = await asking(FOUR_EYES, 6);
    await say('make six files');
    const over = new AbortController();
    const repeated = Array.from({ length: 4 }, async () => {
      const seen = new Set<string>();
      while (!over.signal.aborted) seen.add(await post(sandbox, `${at}/run`, {}, sandbox.asApp));
      return seen;
    });
    await status('waiting_for_confirmation');
    for (const _again of Array(20))
      expect(await post(sandbox, `${at}/run`, {}, sandbox.asApp)).toBe('409 conversation.awaits-confirmation');
    over.abort();
    const seen = new Set((await Promise.all(repeated)).flatMap((each) => [...each]));
    expect(seen.has('409 conversation.awaits-confirmation')).toBe(true);
    expect([made(), answersIn(await events())]).toEqual([0, []]);
  });

  it('with the session key alone are not the app: nothing is started, set, said or accepted by them', async () => {
    const { id, at, say, status, made } = await asking(FOUR_EYES);
    await say('work');
    await status('waiting_for_confirmation');
    const alone = sessionKeyAlone(sandbox);
    const forged = [
      alone,
      { ...alone, [CALLER_KEY_HEADER]: sandbox.sessionKey },
      { ...alone, [CALLER_KEY_HEADER]: '' },
      { ...alone, [CALLER_USER_HEADER]: callerUserHeader(BOB) },
      { ...sandbox.asApp, [CALLER_KEY_HEADER]: `${sandbox.appKey}, ${sandbox.appKey}` },
    ];
    for (const headers of forged) {
      expect(await post(sandbox, '/api/conversations', startOf(id, NONE, sandbox, app.epoch), headers)).toBe(
        '403 permission.denied',
      );
      expect(await post(sandbox, '/api/slipway/secrets', { variables: {}, git: [] }, headers)).toBe(
        '403 permission.denied',
      );
      expect(
        await post(
          sandbox,
          `${at}/events/respond_to_confirmation`,
          { accept: true, slipway: { by: 'Carol', by_id: 'usr_carol' } },
          headers,
        ),
      ).toBe('403 conversation.four-eyes');
      expect((await say('go on', headers)).body.code).toBe('conversation.four-eyes');
      expect(await post(sandbox, `${at}/run`, {}, headers)).toBe('403 conversation.four-eyes');
    }
    expect(made()).toBe(0);
    await status('waiting_for_confirmation');
  });

  it('are not made the app by a thousand headers that push out the identifying one', async () => {
    const old = await TestSandbox.create();
    others.push(old);
    await old.startActionServer();
    await old.startAgentServer();
    await old.activate({ claim: { app_key_sha256: undefined } });
    const { at, status, say } = await asking(FOUR_EYES, 1, old, sessionKeyAlone(old));
    await say('work', sessionKeyAlone(old));
    await status('waiting_for_confirmation');
    const headers = ['x-session-api-key', old.sessionKey, 'content-type', 'application/json', 'host', 'x'];
    for (let index = 0; index < 1_100; index += 1) headers.push(`x-${index}`, '');
    headers.push('x-slipway-through', 'sandbox-gateway');
    const refused = await new Promise<number>((resolve, reject) => {
      const body = JSON.stringify({ variables: {}, git: [] });
      const request = httpRequest(`${old.url}/api/slipway/secrets`, {
        method: 'POST',
        headers: [...headers, 'content-length', String(body.length)],
      });
      request.once('response', (response) => resolve(response.resume().statusCode ?? 0));
      request.once('error', reject).end(body);
    });
    expect([400, 403, 431]).toContain(refused);
    expect(await post(old, `${at}/events/respond_to_confirmation`, { accept: true }, sessionKeyAlone(old))).toBe(
      '403 conversation.four-eyes',
    );
  });

  it('of an earlier release may start and speak in a sandbox that was activated for one, and approve nothing under four eyes', async () => {
    const old = await TestSandbox.create();
    others.push(old);
    await old.startActionServer();
    await old.startAgentServer();
    await old.activate({ claim: { app_key_sha256: undefined, gateway_key_sha256: undefined } });
    const alone = sessionKeyAlone(old);
    const { at, say, status, events, made } = await asking(FOUR_EYES, 1, old, alone);
    await say('work', alone, { sender: 'Ada' });
    await status('waiting_for_confirmation');
    expect((await events()).find((event) => event.kind === 'MessageEvent')).toMatchObject({ sender: 'Ada' });
    expect(await post(old, `${at}/run`, {}, alone)).toBe('409 conversation.awaits-confirmation');
    expect(await post(old, `${at}/events/respond_to_confirmation`, { accept: true }, alone)).toBe(
      '403 conversation.four-eyes',
    );
    const through = { ...alone, 'x-slipway-through': 'sandbox-gateway' };
    expect(await post(old, '/api/slipway/secrets', { variables: {}, git: [] }, through)).toBe('403 permission.denied');
    expect(made()).toBe(0);
  });

  it('who come by sandbox-gateway write under the name that it gives them, whatever they claim', async () => {
    const { id, say, status, events } = await asking(NONE, 0);
    const claimed = { sender: 'Ada', sender_id: 'usr_ada', event_id: randomUUID() };
    expect((await say('by request', sandbox.asUser(BOB), claimed)).status).toBe(200);
    await status('finished');
    const socket = new WebSocket(`${sandbox.url.replace('http', 'ws')}/sockets/events/${id}`, {
      headers: sandbox.asUser(BOB),
    });
    await new Promise((resolve) => socket.once('message', resolve));
    socket.send(JSON.stringify({ role: 'user', content: [{ type: 'text', text: 'by socket' }], ...claimed }));
    await until(
      'both',
      async () =>
        (await events()).filter((event) => event.kind === 'MessageEvent' && event.source === 'user').length === 2,
    );
    socket.close();
    const ofWorker = { ...claimed, event_id: randomUUID() };
    for (const _again of [1, 2])
      expect((await say('by an earlier worker', sessionKeyAlone(sandbox), ofWorker)).status).toBe(200);
    const written = (await events()).filter((event) => event.kind === 'MessageEvent' && event.source === 'user');
    const known = await sandbox.call<ConversationEvent[]>('GET', `/api/conversations/${id}/events/search?limit=100`);
    expect(written.map((event) => [event.id === claimed.event_id, event.id === ofWorker.event_id])).toEqual([
      [false, false],
      [false, false],
      [false, true],
    ]);
    expect(JSON.stringify(known.body)).not.toContain('usr_ada');
    expect(written.map((event) => (event.kind === 'MessageEvent' ? (event.sender ?? null) : ''))).toEqual([
      'Bób',
      'Bób',
      null,
    ]);
  });

  it('who run what waits, as OpenHands’ clients do, give the one answer, with their name, where nothing forbids it', async () => {
    const { at, say, status, events, made } = await asking(NONE);
    await say('work');
    await status('waiting_for_confirmation');
    expect(await post(sandbox, `${at}/run`, {}, sandbox.asApp)).toBe('409 conversation.awaits-confirmation');
    expect(await post(sandbox, `${at}/run`, {}, sessionKeyAlone(sandbox))).toBe('409 conversation.awaits-confirmation');
    expect(await post(sandbox, `${at}/run`, {}, sandbox.asUser(BOB))).toBe('200');
    await status('finished');
    expect(made()).toBe(1);
    expect(answersIn(await events())).toMatchObject([
      { accepted: true, by: 'Bób', by_id: 'usr_bob', by_kind: 'user', through: 'sandbox-gateway' },
    ]);
  });

  it('refuses a run of pending actions where the organization has a floor, and names the answer to give', async () => {
    const { at, say, status, made } = await asking({ floor: 'always', fourEyes: false });
    await say('work');
    await status('waiting_for_confirmation');
    expect(await post(sandbox, `${at}/run`, {}, sandbox.asUser(BOB))).toBe('409 conversation.awaits-confirmation');
    expect(made()).toBe(0);
    expect(await post(sandbox, `${at}/events/respond_to_confirmation`, { accept: true }, sandbox.asUser(BOB))).toBe(
      '200',
    );
    await status('finished');
    expect(made()).toBe(1);
  });

  it('find that under four eyes a rule of before lets nothing through', async () => {
    const { id, at, say, status, made } = await asking(NONE, 2);
    await say('work');
    await status('waiting_for_confirmation');
    const rule = { tool_name: 'terminal', match: 'prefix', value: 'touch' };
    const settings = {
      agentType: 'default',
      limits: { maxIterations: null, maxBudgetUsd: null },
      confirmation: { policy: { kind: 'AlwaysConfirm' }, analyzer: null, organization: FOUR_EYES },
    };
    expect(
      (
        await sandbox.call('PUT', `/api/slipway/conversations/${id}/settings`, {
          settings,
          version: 1,
          epoch: app.epoch,
          chosen: true,
        })
      ).status,
    ).toBe(200);
    expect(
      await post(sandbox, `${at}/events/respond_to_confirmation`, { accept: true, slipway: { rule } }, sandbox.asApp),
    ).toBe('200');
    await until('the first is made', () => made() === 1);
    await status('waiting_for_confirmation');
    expect(made()).toBe(1);
  });
});
