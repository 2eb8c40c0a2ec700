import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ApplySettings, CHARGE_PASS_HEADER } from '@slipway/contracts/agent';
import { type Conversation, type QueuedMessage } from '@slipway/contracts/conversations';
import { type ChargePass, DEMO_MODEL } from '@slipway/contracts/models';
import { ConversationApp, executionStatus, type User } from '../../testing/conversation-app.js';

const MODELS = JSON.stringify({
  object: 'list',
  data: [{ id: DEMO_MODEL, object: 'model', created: 0, owned_by: 'slipway', demo: true, default: true }],
});
const rule = { tool_name: 'terminal', match: 'prefix' as const, value: 'npm test' };

describe('the run settings of a conversation, and what is asked of it beside its task', () => {
  let app: ConversationApp;
  let ada: User;
  const passes: ChargePass[] = [];
  let knowsPasses = 204;
  const gateway = createServer(async (request, response) => {
    if (request.url !== '/internal/charge-passes')
      return void response.setHeader('content-type', 'application/json').end(MODELS);
    passes.push((await json(request)) as ChargePass);
    response.writeHead(knowsPasses).end();
  });
  beforeAll(async () => {
    await once(gateway.listen(0, '127.0.0.1'), 'listening');
    app = await ConversationApp.start({
      env: { LLM_GATEWAY_URL: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}` },
    });
    ada = await app.user('Ada');
  });
  afterAll(async () => {
    gateway.close();
    await app?.close();
  });
  const on = <T = Conversation & { code?: string; fields?: unknown }>(
    method: string,
    id: string,
    path: string,
    body?: object,
    who = ada,
  ) => app.http<T>(who, method, app.path(who, id, path), body);
  const update = (id: string, body: object) => on('PATCH', id, '/run-settings', body);
  const create = (body: object) =>
    app.http<Conversation & { code?: string; fields?: unknown }>(ada, 'POST', app.path(ada), { prompt: 'x', ...body });
  const row = async (id: string) =>
    (
      await app.owner.query<{ acknowledged: number | null; jobs: string[] | null; actions: string[] }>(
        `SELECT (checkpoint ->> 'settingsVersion')::int AS acknowledged, (SELECT array_agg(queue) FROM app.outbox WHERE key = $1::text) AS jobs,
           ARRAY(SELECT action FROM app.audit_entry WHERE target = $1::text AND action <> 'conversation.create' ORDER BY 1) AS actions
         FROM app.conversation WHERE id = $1::uuid`,
        [id],
      )
    ).rows[0];
  const settings = (values: object) =>
    app.owner.query('UPDATE app.org SET settings = settings || $2::jsonb WHERE id = $1', [
      ada.orgId,
      JSON.stringify(values),
    ]);

  it('is said at the start, within what the organization allows', async () => {
    const made = await create({ agentType: 'plan', maxIterations: 20, maxBudgetUsd: '2.50' });
    expect(made).toMatchObject({ status: 201, body: { agentType: 'plan', maxIterations: 20, maxBudgetUsd: '2.5' } });
    expect((await create({})).body).toMatchObject({ agentType: 'default', maxIterations: null, maxBudgetUsd: null });
    for (const wrong of [
      { agentType: 'dream' },
      { maxIterations: 0 },
      { maxIterations: 1.5 },
      { maxBudgetUsd: '0' },
      { maxBudgetUsd: '1e3' },
      { maxBudgetUsd: 5 },
    ])
      expect((await create(wrong)).status).toBe(400);
    await settings({ maxIterations: 30 });
    const fields = [{ path: 'maxIterations', message: 'must be at most 30: your organization allows no more' }];
    expect(await create({ maxIterations: 31 })).toMatchObject({ status: 400, body: { fields } });
    expect(await update(made.body.id, { maxIterations: 31 })).toMatchObject({ status: 400, body: { fields } });
    await settings({ maxIterations: null });
  });

  it('is stored, said in the log and in the audit, once, and then applied by the sandbox, which was asked before whether it objects', async () => {
    const sent: unknown[] = [];
    const sandbox = await app.fakeSandbox(({ method }, body) => {
      const { dryRun, settings } = ApplySettings.parse(JSON.parse(body));
      sent.push([method, dryRun, settings.limits.maxIterations]);
      return { status: 200 };
    });
    const { id } = await app.conversation(ada);
    await app.started(id, 1, sandbox);
    await app.owner.query('DELETE FROM app.outbox');
    for (let time = 0; time < 2; time += 1)
      expect(await update(id, { maxIterations: 40, maxBudgetUsd: '3.10' })).toMatchObject({
        status: 200,
        body: { maxIterations: 40, maxBudgetUsd: '3.1' },
      });
    const { rows } = await app.owner.query('SELECT settings_version FROM app.org WHERE id = $1', [ada.orgId]);
    expect(await row(id)).toEqual({
      acknowledged: rows[0].settings_version + 1,
      jobs: ['conversation-deliver'],
      actions: ['conversation.set-run-settings'],
    });
    expect(sent).toEqual([
      ['PUT', true, 40],
      ['PUT', false, 40],
      ['PUT', true, 40],
    ]);
    expect((await app.log(id)).map(({ event }) => event)).toMatchObject([
      { key: 'run_settings', value: { agentType: 'default', maxIterations: 40, maxBudgetUsd: '3.1' } },
    ]);
    expect((await update(id, { maxBudgetUsd: null })).body).toMatchObject({ maxIterations: 40, maxBudgetUsd: null });
    expect((await update(id, {})).status).toBe(400);
    // Pages of the release before; goes in 0.2.0.
    expect((await on('PATCH', id, '/terms', { maxBudgetUsd: '4' })).body).toMatchObject({ maxBudgetUsd: '4' });
  });

  it('stays as it was when the sandbox is silent, or refuses: with the reason', async () => {
    const refusal = (setting: string, code: string, detail: string) => ({
      status: 200,
      body: JSON.stringify({ version: 0, refused: [{ setting, code, detail }] }),
    });
    const answers = [
      refusal('agentType', 'conversation.busy', 'The agent is at work.'),
      refusal('maxIterations', 'request.invalid', 'must be at most 500 here'),
      { status: 500, body: JSON.stringify({ code: 'internal.unexpected', detail: 'no' }) },
    ];
    const sandbox = await app.fakeSandbox(() => answers.shift() ?? { status: 500 });
    const { id } = await app.conversation(ada);
    await app.started(id, 1, sandbox);
    expect(await update(id, { agentType: 'plan' })).toMatchObject({ status: 409, body: { code: 'conversation.busy' } });
    expect(await update(id, { maxIterations: 900 })).toMatchObject({
      status: 400,
      body: { fields: [{ path: 'maxIterations', message: 'must be at most 500 here' }] },
    });
    expect(await update(id, { maxIterations: 90 })).toMatchObject({
      status: 502,
      body: { code: 'sandbox.unreachable' },
    });
    expect((await on('GET', id, '')).body).toMatchObject({ agentType: 'default', maxIterations: null });
  });

  it('is not held up by what the sandbox refuses of other settings', async () => {
    const busy = { setting: 'agentType', code: 'conversation.busy', detail: 'The agent is at work.' };
    const sandbox = await app.fakeSandbox(() => ({
      status: 200,
      body: JSON.stringify({ version: 2, refused: [busy] }),
    }));
    const { id } = await app.conversation(ada);
    await app.started(id, 1, sandbox);
    expect(await update(id, { maxIterations: 90 })).toMatchObject({ status: 200, body: { maxIterations: 90 } });
    // Nothing is acknowledged: the worker sends it again.
    expect(await row(id)).toMatchObject({ acknowledged: null, jobs: expect.arrayContaining(['conversation-deliver']) });
  });

  it('reaches an agent-server of the release before by its own routes, with the same refusals', async () => {
    let answer: (url: string, body: string) => { status: number; body?: string } = () => ({ status: 200 });
    const sandbox = await app.fakeSandbox(({ url = '' }, body) =>
      url.endsWith('/settings')
        ? { status: 404, body: '{"code":"resource.not-found"}' }
        : answer(url.replace(/.*conversations\/[^/]*\//, ''), body),
    );
    const { id } = await app.conversation(ada);
    await app.started(id, 1, sandbox);
    answer = (route, body) =>
      route === 'terms/check' && body.includes('max_iterations')
        ? {
            status: 400,
            body: JSON.stringify({
              code: 'request.invalid',
              detail: 'no',
              fields: [{ path: 'max_iterations', message: 'must be at most 500 here' }],
            }),
          }
        : { status: 200 };
    expect(await update(id, { maxIterations: 900 })).toMatchObject({
      status: 400,
      body: { fields: [{ path: 'maxIterations', message: 'must be at most 500 here' }] },
    });
    const bodies: Array<[string, object]> = [];
    answer = (route, body) => {
      bodies.push([route, JSON.parse(body) as object]);
      return { status: 200 };
    };
    expect(await update(id, { maxIterations: 90 })).toMatchObject({ status: 200, body: { maxIterations: 90 } });
    const ordered = { version: 1, epoch: 1 };
    expect(bodies).toMatchObject([
      ...Array(3).fill(['terms/check', {}]),
      ['brake', { policy: { kind: 'NeverConfirm' }, brake: { fourEyes: false }, chosen: false, epoch: 1 }],
      ['terms', { max_iterations: 90, ...ordered }],
      ['terms', { max_budget_per_task: null, ...ordered }],
      ['terms', { agent_type: 'default', ...ordered }],
    ]);
    expect((await row(id))?.acknowledged).toEqual(expect.any(Number));
  });

  it('reaches a sandbox that is starting by a job, and wakes no idle agent', async () => {
    const { id } = await app.conversation(ada);
    await app.owner.query('DELETE FROM app.outbox');
    expect((await update(id, { maxIterations: 41 })).status).toBe(200);
    expect((await row(id))?.jobs).toEqual(['conversation-start']);
    await app.owner.query('DELETE FROM app.outbox');
    await app.owner.query(`UPDATE app.conversation SET desired = 'rest', sandbox_status = 'PAUSED' WHERE id = $1`, [
      id,
    ]);
    expect((await update(id, { maxIterations: 42 })).status).toBe(200);
    expect((await row(id))?.jobs).toBeNull();
  });

  it('lets a plan be carried out: another kind of agent, then the message, which is one however often it is asked for', async () => {
    const sandbox = await app.fakeSandbox(() => ({ status: 200 }));
    const { id } = (await create({ agentType: 'plan' })).body;
    await app.started(id, 1, sandbox);
    const key = randomUUID();
    const carry = (body: object) =>
      app.http<QueuedMessage>(ada, 'POST', app.path(ada, id, '/carry-out-plan'), body, { 'idempotency-key': key });
    const [first, again] = [await carry({ note: 'but not step 3' }), await carry({ note: 'but not step 3' })];
    expect(first.status).toBe(202);
    expect(again.body.id).toBe(first.body.id);
    expect(first.body.text).toMatch(/PLAN\.md[\s\S]*but not step 3$/);
    const { body } = await on('GET', id, '');
    expect([body.agentType, body.queued.map((message) => message.id)]).toEqual([
      'default',
      [expect.any(String), first.body.id],
    ]);
  });

  it('summarizes and answers while a sandbox has the conversation', async () => {
    const sandbox = await app.fakeSandbox(({ url = '' }) => ({
      status: 200,
      body: url.endsWith('/ask_agent') ? '{"response":"Because."}' : '{"success":true}',
    }));
    const { id } = await app.conversation(ada);
    await app.started(id, 1, sandbox);
    expect((await on('POST', id, '/condense')).status).toBe(200);
    expect(await on('POST', id, '/ask', { question: 'Why?' })).toMatchObject({
      status: 200,
      body: { answer: 'Because.' },
    });
    expect((await on('POST', id, '/ask', { question: ' ' })).status).toBe(400);
    expect((await row(id))?.actions).toEqual(['conversation.ask', 'conversation.condense']);
    await app.owner.query(`UPDATE app.conversation SET desired = 'rest', sandbox_status = 'PAUSED' WHERE id = $1`, [
      id,
    ]);
    for (const [path, body] of [['/condense'], ['/ask', { question: 'Why?' }]] as const)
      expect(await on('POST', id, path, body)).toMatchObject({
        status: 409,
        body: { code: 'conversation.not-running' },
      });
  });

  it('counts what is asked beside the task for who asks: the gateway knows the pass that the sandbox is shown, and nothing is asked while it is unreachable', async () => {
    const shown: unknown[] = [];
    const sandbox = await app.fakeSandbox(({ headers }) => {
      shown.push(headers[CHARGE_PASS_HEADER]);
      return { status: 200, body: '{"response":"Because.","success":true}' };
    });
    const { id } = await app.conversation(ada);
    await app.started(id, 1, sandbox);
    const bob = await app.user('Bob');
    await app.owner.query(`INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'member')`, [
      ada.orgId,
      bob.userId,
    ]);
    const ask = (path: string, body?: object) => app.http(bob, 'POST', app.path(ada, id, path), body);
    passes.splice(0);
    expect([(await ask('/ask', { question: 'Why?' })).status, (await ask('/condense')).status]).toEqual([200, 200]);
    expect(passes.map(({ org, conversation, user }) => [org, conversation, user])).toEqual([
      [ada.orgId, id, bob.userId],
      [ada.orgId, id, bob.userId],
    ]);
    expect(passes.map(({ sha256 }) => sha256)).toEqual(
      shown.map((pass) => createHash('sha256').update(String(pass)).digest('hex')),
    );
    knowsPasses = 503;
    expect(await ask('/ask', { question: 'Why?' })).toMatchObject({
      status: 503,
      body: { code: 'service.unavailable' },
    });
    knowsPasses = 404;
    expect((await ask('/ask', { question: 'Why?' })).status).toBe(200);
    expect([shown.length, shown.at(-1)]).toEqual([3, undefined]);
    knowsPasses = 204;
  });

  it('shows what is not asked again, wherever in the log it was said, and revokes it', async () => {
    const { id } = await app.conversation(ada);
    await app.started(id, 1);
    const said = {
      id: randomUUID(),
      timestamp: new Date().toISOString(),
      source: 'user' as const,
      kind: 'ConversationStateUpdateEvent' as const,
    };
    const value = { policy: { kind: 'AlwaysConfirm' }, analyzer: null, rules: [{ ...rule, by: 'Ada' }] };
    await app.ingest(ada, id, [
      { producerSeq: 1, event: { ...said, key: 'confirmation_settings', value } },
      { producerSeq: 2, event: executionStatus('running') },
    ]);
    const list = () => on<{ data: object[] }>('GET', id, '/confirmation-rules');
    expect((await list()).body.data).toEqual([{ ...rule, by: 'Ada' }]);
    for (let time = 0; time < 2; time += 1)
      expect(await on('POST', id, '/confirmation-rules/revoke', rule)).toMatchObject({
        status: 200,
        body: { data: [] },
      });
    expect((await list()).body.data).toEqual([]);
    expect((await row(id))?.actions).toEqual(['conversation.revoke-rule']);
    const last = (await app.log(id)).at(-1)?.event;
    expect(last).toMatchObject({
      key: 'confirmation_settings',
      value: { policy: { kind: 'AlwaysConfirm' }, rules: [] },
    });
  });

  it('ends what halted at a limit, with and without a sandbox', async () => {
    const { id } = await app.conversation(ada);
    await app.started(id, 1);
    const pause = {
      id: randomUUID(),
      timestamp: new Date().toISOString(),
      source: 'environment' as const,
      kind: 'PauseEvent' as const,
    };
    await app.ingest(ada, id, [
      { producerSeq: 1, event: executionStatus('running') },
      { producerSeq: 2, event: pause },
      { producerSeq: 3, event: executionStatus('paused') },
    ]);
    await app.owner.query(`UPDATE app.conversation SET desired = 'rest', sandbox_status = 'PAUSED' WHERE id = $1`, [
      id,
    ]);
    for (let time = 0; time < 2; time += 1)
      expect(await on('POST', id, '/stop')).toMatchObject({ status: 202, body: { status: 'stopped' } });
    expect((await app.log(id)).filter(({ event }) => event.kind === 'InterruptEvent')).toHaveLength(1);
  });
});
