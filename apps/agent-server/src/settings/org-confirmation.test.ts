import { randomUUID } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AgentSettings, ConversationInfo } from '@slipway/contracts/agent';
import type { ConfirmationMode, OrgConfirmationPolicy } from '@slipway/contracts/conversations';
import type { ConversationEvent } from '@slipway/contracts/events';
import { settingsOfMode } from '@slipway/domain';
import { type ModelServer, startModelServer, until } from '@slipway/testing';
import { WebSocket } from 'ws';
import { TestSandbox } from '../testing/sandbox.js';
import { TestApp } from '../testing/test-app.js';

const FINISH = { toolCalls: [{ name: 'finish', arguments: { message: 'done' } }] };
/** The settings of a conversation whose mode, and whose organization's floor, is `mode`. */
const settingsWith = (mode: ConfirmationMode, fourEyes: boolean): AgentSettings => ({
  agentType: 'default',
  limits: { maxIterations: null, maxBudgetUsd: null },
  confirmation: { ...settingsOfMode(mode), organization: { floor: mode, fourEyes } },
});
const BOB = { id: 'usr_bob', label: 'Bob', kind: 'user' } as const;

describe('the confirmation policy of an organization', () => {
  let sandbox: TestSandbox;
  let model: ModelServer;
  let app: TestApp;
  beforeAll(async () => {
    [sandbox, model, app] = await Promise.all([
      TestSandbox.start(),
      startModelServer({ script: [] }),
      new TestApp().start(),
    ]);
  });
  afterAll(() => Promise.all([sandbox.close(), model.close(), app.close()]));

  /** A conversation of the app whose agent waits for a yes to make a file. */
  async function waiting(orgConfirmation: OrgConfirmationPolicy) {
    await app.close();
    app = await new TestApp().start();
    const name = randomUUID();
    model.use([{ toolCalls: [{ name: 'terminal', arguments: { command: `touch ${name}` } }] }, FINISH]);
    const id = randomUUID();
    const started = await sandbox.call('POST', '/api/conversations', {
      conversation_id: id,
      agent: { llm: { model: 'openai/scripted', base_url: model.url, num_retries: 0 } },
      workspace: { working_dir: sandbox.workspace, kind: 'LocalWorkspace' },
      confirmation_policy: { kind: 'AlwaysConfirm' },
      slipway: {
        epoch: app.epoch,
        ingestUrl: app.url,
        ingestToken: 'token',
        head: 0,
        resumeRun: false,
        orgConfirmation,
      },
    });
    expect(started.status).toBe(201);
    const at = `/api/conversations/${id}`;
    await sandbox.call('POST', `${at}/events`, { role: 'user', content: [{ type: 'text', text: 'work' }], run: true });
    const status = (wanted: string) =>
      until(
        `it is ${wanted}`,
        async () => (await sandbox.call<ConversationInfo>('GET', at)).body.execution_status === wanted,
      );
    await status('waiting_for_confirmation');
    const events = async () =>
      (await sandbox.call<{ items: ConversationEvent[] }>('GET', `${at}/events/search?limit=100`)).body.items;
    const policy = async () =>
      (await sandbox.call<{ confirmation_policy: { kind: string } }>('GET', at)).body.confirmation_policy.kind;
    return { id, at, status, events, policy, made: () => existsSync(path.join(sandbox.workspace, name)) };
  }

  /** As sandbox-gateway forwards a user's request. */
  async function outside(
    route: string,
    body: object = {},
    headers = sandbox.asUser(BOB),
    method = 'POST',
  ): Promise<string> {
    const response = await fetch(`${sandbox.url}${route}`, {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(10_000),
    });
    const text = await response.text();
    return `${response.status} ${(JSON.parse(text) as { code?: string }).code ?? ''}`.trim();
  }

  /** What the agent's socket says to this frame; the first one is the state. */
  function overSocket(id: string, frame: object, headers = sandbox.asApp): { said: () => object[]; socket: WebSocket } {
    const frames: object[] = [];
    const socket = new WebSocket(`${sandbox.url.replace('http', 'ws')}/sockets/events/${id}`, {
      headers,
    });
    socket.on('message', (data: Buffer) => void frames.push(JSON.parse(data.toString()) as object));
    socket.once('open', () => socket.send(JSON.stringify(frame)));
    return { said: () => frames, socket };
  }

  it('with four eyes lets nobody who comes by the gateway say yes, by whichever way, and the app may', async () => {
    const { id, at, status, made, events } = await waiting({ floor: 'always', fourEyes: true });
    expect(await outside(`${at}/events/respond_to_confirmation`, { accept: true })).toBe('403 conversation.four-eyes');
    expect(await outside(`${at}/run`)).toBe('409 conversation.awaits-confirmation');
    const { said, socket } = overSocket(id, { type: 'confirmation', accept: true }, sandbox.asUser(BOB));
    await until('the socket refuses it', () =>
      said().some((frame) => (frame as { code?: string }).code === 'conversation.four-eyes'),
    );
    socket.close();
    expect([
      made(),
      (await events()).some((event) => event.kind === 'ConversationStateUpdateEvent' && event.key === 'confirmation'),
    ]).toEqual([false, false]);
    expect(
      (await sandbox.call('POST', `${at}/events/respond_to_confirmation`, { accept: true, slipway: { by: 'Eve' } }))
        .status,
    ).toBe(200);
    await status('finished');
    expect(made()).toBe(true);
  });

  it('keeps the mode, other agents and what only Slipway says to a sandbox out of their hands', async () => {
    const { id, at, made, policy } = await waiting({ floor: 'risky', fourEyes: false });
    const refused = [
      outside(`${at}/confirmation_policy`, { policy: { kind: 'NeverConfirm' } }),
      outside(`${at}/security_analyzer`, { security_analyzer: null }),
      outside(`${at}/fork`),
      outside('/api/conversations', {
        conversation_id: id,
        agent: { llm: { model: 'other' } },
        workspace: { working_dir: sandbox.workspace },
      }),
      outside(
        `/api/slipway/conversations/${id}/settings`,
        { settings: settingsWith('never', false), version: 9, epoch: app.epoch },
        sandbox.asUser(BOB),
        'PUT',
      ),
      outside(`/api/slipway/conversations/${id}/terms`, { max_iterations: 9_000 }),
      outside('/api/slipway/secrets', { variables: {}, git: [] }),
    ];
    expect(new Set(await Promise.all(refused))).toEqual(new Set(['403 permission.denied']));
    expect([await policy(), made()]).toEqual(['AlwaysConfirm', false]);
  });

  it('that is none leaves them everything, but nobody’s name', async () => {
    const { at, status, events, policy } = await waiting({ floor: 'never', fourEyes: false });
    const rule = { tool_name: 'terminal', match: 'prefix', value: 'touch', by: 'Somebody else' };
    expect(
      await outside(`${at}/events/respond_to_confirmation`, { accept: true, slipway: { by: 'Somebody else', rule } }),
    ).toBe('200');
    await status('finished');
    expect(JSON.stringify(await events())).not.toContain('Somebody else');
    expect(await outside(`${at}/confirmation_policy`, { policy: { kind: 'NeverConfirm' } })).toBe('200');
    expect(await policy()).toBe('NeverConfirm');
  });

  it('or none: where the log of a conversation goes, and what the organization wants, nobody says who comes by the gateway', async () => {
    const { id } = await waiting({ floor: 'never', fourEyes: false });
    const elsewhere = {
      epoch: app.epoch + 1,
      ingestUrl: 'http://127.0.0.1:9/',
      ingestToken: 'token',
      head: 0,
      resumeRun: false,
    };
    const start = {
      agent: { llm: { model: 'openai/scripted', base_url: model.url } },
      workspace: { working_dir: sandbox.workspace },
      slipway: elsewhere,
    };
    for (const conversation_id of [id, randomUUID()])
      expect(await outside('/api/conversations', { ...start, conversation_id })).toBe('403 permission.denied');
    const { slipway: _, ...own } = start;
    expect(await outside('/api/conversations', { ...own, conversation_id: randomUUID() })).toBe('201');
  });

  it('holds while the agent works: what waits waits on, four eyes and the floor count from then on, also for a fork, and no older message undoes them', async () => {
    const { id, at, status, policy, made } = await waiting({ floor: 'never', fourEyes: false });
    await sandbox.call('POST', `${at}/confirmation_policy`, { policy: { kind: 'NeverConfirm' } });
    const fork = await sandbox.call<{ id: string }>('POST', `${at}/fork`, {});
    const tell = async (mode: ConfirmationMode, version: number, { chosen = false, epoch = app.epoch } = {}) =>
      (
        await sandbox.call('PUT', `/api/slipway/conversations/${id}/settings`, {
          settings: settingsWith(mode, mode !== 'never'),
          version,
          epoch,
          chosen,
        })
      ).status;
    const forked = async () =>
      (await sandbox.call<{ confirmation_policy: { kind: string } }>('GET', `/api/conversations/${fork.body.id}`)).body
        .confirmation_policy.kind;
    expect([await tell('always', 7, { chosen: true }), await policy(), await forked(), made()]).toEqual([
      200,
      'AlwaysConfirm',
      'AlwaysConfirm',
      false,
    ]);
    await status('waiting_for_confirmation');
    expect(await outside(`${at}/events/respond_to_confirmation`, { accept: true })).toBe('403 conversation.four-eyes');
    expect([await tell('never', 6), await policy()]).toEqual([200, 'AlwaysConfirm']);
    expect([await tell('never', 8, { epoch: app.epoch + 1 }), await policy()]).toEqual([409, 'AlwaysConfirm']);
    expect(await outside(`${at}/events/respond_to_confirmation`, { accept: true })).toBe('403 conversation.four-eyes');
    expect([await tell('never', 8), await policy(), await forked()]).toEqual([200, 'NeverConfirm', 'AlwaysConfirm']);
    await status('waiting_for_confirmation');
  });

  it('begins to ask from the next step of a run on that asked for nothing', async () => {
    await app.close();
    app = await new TestApp().start();
    const [gate, name] = [path.join(sandbox.workspace, randomUUID()), randomUUID()];
    const terminal = (command: string) => ({ toolCalls: [{ name: 'terminal', arguments: { command } }] });
    model.use([terminal(`until [ -e ${gate} ]; do sleep 0.05; done`), terminal(`touch ${name}`), FINISH]);
    const id = randomUUID();
    await sandbox.call('POST', '/api/conversations', {
      conversation_id: id,
      agent: { llm: { model: 'openai/scripted', base_url: model.url, num_retries: 0 } },
      workspace: { working_dir: sandbox.workspace, kind: 'LocalWorkspace' },
      ...{ confirmation_policy: { kind: 'NeverConfirm' }, security_analyzer: settingsOfMode('never').analyzer },
      slipway: {
        epoch: app.epoch,
        ingestUrl: app.url,
        ingestToken: 'token',
        head: 0,
        resumeRun: false,
        orgConfirmation: { floor: 'never', fourEyes: false },
      },
    });
    const at = `/api/conversations/${id}`;
    await sandbox.call('POST', `${at}/events`, { role: 'user', content: [{ type: 'text', text: 'work' }], run: true });
    const kinds = async () =>
      (await sandbox.call<{ items: ConversationEvent[] }>('GET', `${at}/events/search?limit=100`)).body.items.map(
        (event) => event.kind,
      );
    await until('the first command runs', async () => (await kinds()).includes('ActionEvent'));
    const strict = { settings: settingsWith('always', true), version: 1, epoch: app.epoch };
    expect((await sandbox.call('PUT', `/api/slipway/conversations/${id}/settings`, strict)).status).toBe(200);
    writeFileSync(gate, '');
    const status = async () => (await sandbox.call<ConversationInfo>('GET', at)).body.execution_status;
    await until('it asks', async () => (await status()) === 'waiting_for_confirmation');
    expect(existsSync(path.join(sandbox.workspace, name))).toBe(false);
  });

  it('is a floor for whoever made it ask more often in the sandbox itself, and goes back to that', async () => {
    const { id, at, policy } = await waiting({ floor: 'never', fourEyes: false });
    const tell = (mode: ConfirmationMode, version: number, chosen = false) =>
      sandbox.call('PUT', `/api/slipway/conversations/${id}/settings`, {
        settings: settingsWith(mode, false),
        version,
        epoch: app.epoch,
        chosen,
      });
    await tell('never', 1, true);
    expect(await policy()).toBe('NeverConfirm');
    expect(await outside(`${at}/confirmation_policy`, { policy: { kind: 'AlwaysConfirm' } })).toBe('200');
    await tell('risky', 2);
    expect(await policy()).toBe('AlwaysConfirm');
    await tell('never', 3);
    expect(await policy()).toBe('AlwaysConfirm');
    await tell('risky', 4, true);
    expect(await policy()).toBe('ConfirmRisky');
    await tell('never', 5);
    expect(await policy()).toBe('NeverConfirm');
  });

  it('or none: an answer over the agent’s own socket counts, and of two at once the first', async () => {
    const { id, status, made, events } = await waiting({ floor: 'never', fourEyes: false });
    const sockets = [true, true, true].map((accept) => overSocket(id, { type: 'confirmation', accept }));
    const refusals = () =>
      sockets.filter(({ said }) =>
        said().some((frame) => (frame as { code?: string }).code === 'conversation.nothing-to-confirm'),
      );
    await until('two of three were refused as too late', () => refusals().length === 2);
    await status('finished');
    for (const { socket } of sockets) socket.close();
    expect(made()).toBe(true);
    expect(
      (await events()).filter((event) => event.kind === 'ConversationStateUpdateEvent' && event.key === 'confirmation'),
    ).toHaveLength(1);
  });

  it('holds from the first moment of a restart of the sandbox on, before the app has said anything', async () => {
    await waiting({ floor: 'always', fourEyes: true });
    await sandbox.kill('agentServer');
    await sandbox.kill('actionServer');
    sandbox = await TestSandbox.start(sandbox);
    const start = {
      agent: { llm: { model: 'openai/scripted', base_url: model.url } },
      workspace: { working_dir: sandbox.workspace },
    };
    expect(await outside('/api/conversations', { ...start, conversation_id: randomUUID() })).toBe(
      '403 permission.denied',
    );
  });
});
