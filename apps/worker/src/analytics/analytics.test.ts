import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { analyticsPseudonym } from '@slipway/analytics';
import type { PosthogAnswer } from '@slipway/testing';
import {
  AnalyticsWorld,
  message,
  PLANTED,
  pullRequest,
  run,
  SECRET,
  stats,
  status,
  tool,
  update,
} from './testing/analytics-world.js';

jest.setTimeout(240_000);

describe('analytics events', () => {
  let world: AnalyticsWorld;
  beforeAll(async () => {
    world = await AnalyticsWorld.open();
  });
  afterAll(() => world?.close());
  beforeEach(async () => {
    world.posthog.clear();
    await world.owner.query(
      'TRUNCATE app.analytics_event, app.analytics_cursor, app.analytics_conversation, app.analytics_position, app.analytics_member',
    );
    await world.owner.query('UPDATE app.org SET analytics_since = NULL');
    await world.owner.query('UPDATE app.user_account SET analytics_since = NULL');
  });

  const names = (): string[] => [...world.posthog.events.values()].map(({ event }) => event);
  async function allowing(): Promise<{ org: string; user: string }> {
    const made = await world.signUp();
    await world.allowOrg(made.org, true);
    await world.allowUser(made.user, true);
    return made;
  }

  /** A user who connects a git host, gives a task, and merges the pull request of it. */
  async function funnel({ org, user }: { org: string; user: string }): Promise<string> {
    await world.audit(org, user, 'integration.create', { provider: 'github', name: PLANTED.repository });
    const id = await world.conversation(org, user);
    await world.append(org, id, run(0.25, 1_200));
    const pull = randomUUID();
    await world.owner.query(
      `INSERT INTO app.workspace_snapshot (conversation_id, org_id, changes, patch) VALUES ($1, $2, $3, 'p')`,
      [id, org, JSON.stringify({ files: [{ path: PLANTED.repository, additions: 10, deletions: 2 }] })],
    );
    await world.append(
      org,
      id,
      [
        pullRequest(pull, { publish: 'done', headSha: 'abc', number: 7, state: 'open' }),
        pullRequest(pull, { publish: 'done', headSha: 'abc', number: 7, state: 'merged' }),
      ],
      true,
    );
    return id;
  }
  const FUNNEL = [
    'user_signed_up',
    'org_created',
    'git_provider_connected',
    'conversation_started',
    'first_event_seen',
    'first_tool_succeeded',
    'agent_task_completed',
    'changes_pushed',
    'pull_request_opened',
    'pull_request_merged',
  ];

  it('are the funnel from sign-up to a merged pull request, made of one conversation', async () => {
    const made = await allowing();
    await funnel(made);
    await world.round();
    const inOrder = [...world.posthog.events.values()]
      .sort((a, b) => Date.parse(a.timestamp) - Date.parse(b.timestamp))
      .map(({ event }) => event);
    expect(inOrder.filter((name) => name !== 'user_activated').sort()).toEqual([...FUNNEL].sort());
    expect(names()).toContain('user_activated');
    const of = (name: string) => [...world.posthog.events.values()].find(({ event }) => event === name);
    expect(of('agent_task_completed')?.properties).toMatchObject({
      result: 'finished',
      turns: 1,
      steps: 1,
      tool_calls: 1,
      cost_usd: 0.25,
      tokens: 1_200,
      model: 'gpt-5.2',
    });
    expect(of('changes_pushed')?.properties).toMatchObject({ files: 1, lines: 12 });
    expect(of('pull_request_merged')?.properties).toMatchObject({
      provider: 'github',
      cost_usd: 0.25,
      hours_open: expect.closeTo(2, 1),
    });
    expect(new Set([...world.posthog.events.values()].map(({ distinct_id }) => distinct_id))).toEqual(
      new Set([analyticsPseudonym(SECRET, 'user', made.user)]),
    );
    for (const { properties } of world.posthog.events.values())
      expect(properties).toMatchObject({
        $groups: { organization: analyticsPseudonym(SECRET, 'organization', made.org) },
        $process_person_profile: false,
        $geoip_disable: true,
        $lib: 'posthog-node',
      });
    expect(await world.waiting()).toEqual([]);
  });

  it('never hold an address, a name, a repository, a branch, a prompt or an id of ours', async () => {
    const { org, user } = await allowing();
    const id = await funnel({ org, user });
    await world.append(org, id, [
      status('running'),
      { kind: 'ConversationErrorEvent', code: PLANTED.prompt, detail: PLANTED.prompt },
      update('stats', PLANTED.prompt),
      status('error'),
    ]);
    await world.round();
    const sent = world.posthog.bodies.join();
    expect(names()).toContain('conversation_failed');
    expect([...Object.values(PLANTED), org, user, id].filter((word) => sent.includes(word))).toEqual([]);
  });

  it('are sent under one id each, however often workers die and repeat', async () => {
    const made = await allowing();
    await funnel(made);
    const signal = AbortSignal.timeout(60_000);
    await Promise.all([world.maker().run(signal), world.maker().run(signal), world.maker().run(signal)]);
    const posthog = world.posthogSender();
    const dying = world.sender({
      send: async (events) => {
        await posthog.send(events);
        throw new Error('killed before the rows were deleted');
      },
    });
    await expect(dying.run(signal)).rejects.toThrow('killed');
    const first = new Set(world.posthog.uuids);
    await world.round();
    await world.round();
    expect(new Set(world.posthog.uuids)).toEqual(first);
    expect(world.posthog.uuids.length).toBe(2 * first.size);
    expect(first.size).toBe(FUNNEL.length + 1);
  });

  const TROUBLES: readonly PosthogAnswer[] = [401, 402, 429, 500, 503, 'hang', 'reset', 302];
  for (const trouble of TROUBLES)
    it(`wait while the receiver answers ${trouble}, and come later under the same ids`, async () => {
      const { org, user } = await allowing();
      await world.audit(org, user, 'api-key.create');
      let now = 0;
      const sender = world.sender({ now: () => now, timeoutMs: trouble === 'hang' ? 300 : 20_000 });
      const signal = AbortSignal.timeout(60_000);
      await world.maker().run(signal);
      const waiting = await world.waiting();
      expect(waiting).toContain('api_key_created');
      world.posthog.answers = [trouble];
      await sender.run(signal);
      await sender.run(signal);
      expect([world.posthog.requests.length, await world.waiting()]).toEqual([1, waiting]);
      world.posthog.answers = [200];
      now += 5_000;
      await sender.run(signal);
      expect([names().sort(), await world.waiting()]).toEqual([[...waiting].sort(), []]);
    });

  it('are sent again no sooner than the receiver asks for', async () => {
    await allowing();
    let now = 0;
    const sender = world.sender({ now: () => now });
    const signal = AbortSignal.timeout(60_000);
    await world.maker().run(signal);
    [world.posthog.answers, world.posthog.headers] = [[429, 200], { 'retry-after': '60' }];
    await sender.run(signal);
    now = 59_999;
    await sender.run(signal);
    expect(names()).toEqual([]);
    now = 60_000;
    await sender.run(signal);
    expect(names().sort()).toEqual(['org_created', 'user_signed_up']);
  });

  it('that are too large together go in smaller parts, and one that is refused blocks no other and stays', async () => {
    const { org, user } = await allowing();
    for (let index = 0; index < 6; index += 1) await world.audit(org, user, 'api-key.create');
    const signal = AbortSignal.timeout(60_000);
    await world.maker().run(signal);
    let now = 0;
    const batches: number[] = [];
    const posthog = world.posthogSender();
    const sender = world.sender({
      now: () => now,
      send: async (events) => {
        batches.push(events.length);
        world.posthog.answers = [events.length > 2 || events.some(({ event }) => event === 'org_created') ? 413 : 200];
        return posthog.send(events);
      },
    });
    for (let round = 0; round < 30 && (await world.waiting()).length > 1; round += 1) {
      await sender.run(signal);
      now += 300_000;
    }
    expect([names().sort(), await world.waiting()]).toEqual([
      [...Array(6).fill('api_key_created'), 'user_signed_up'].sort(),
      ['org_created'],
    ]);
    expect(batches.slice(0, 2)).toEqual([8, 4]);
  });

  it('are not made or sent without the yes of the organization and of the user, nor of a browser that asks not to be tracked', async () => {
    const signal = AbortSignal.timeout(60_000);
    const [a, b, c] = [await world.signUp(), await world.signUp(), await world.signUp()];
    await world.allowOrg(a.org, true);
    await world.allowUser(b.user, true);
    await world.allowOrg(c.org, true);
    await world.allowUser(c.user, true);
    await world.refuseByBrowser(c.user, true);
    for (const { org, user } of [a, b, c]) {
      await world.audit(org, user, 'api-key.create');
      await world.append(org, await world.conversation(org, user), run(1, 1));
    }
    await world.maker().run(signal);
    await world.sender().run(signal);
    expect([await world.waiting(), world.posthog.connections]).toEqual([[], 0]);
    await world.refuseByBrowser(c.user, false);
    await world.audit(c.org, c.user, 'member.join');
    await world.round();
    expect(names().sort()).toEqual(['member_joined', 'org_created', 'user_signed_up']);
  });

  it('that wait are deleted when the user or the organization takes the yes back, and do not come back with the next yes', async () => {
    const { org, user } = await allowing();
    const signal = AbortSignal.timeout(60_000);
    for (const [withdraw, allow] of [
      [() => world.allowUser(user, false), () => world.allowUser(user, true)],
      [() => world.allowOrg(org, false), () => world.allowOrg(org, true)],
    ] as const) {
      await world.audit(org, user, 'api-key.create');
      await world.append(org, await world.conversation(org, user), run(1, 1));
      await world.maker().run(signal);
      expect(await world.waiting()).toContain('api_key_created');
      await withdraw();
      expect(await world.waiting()).toEqual([]);
      await allow();
      await world.round();
      expect(names().filter((name) => name !== 'user_signed_up' && name !== 'org_created')).toEqual([]);
    }
  });

  it('wait up to a bound: beyond it the log is not read, and nothing is lost', async () => {
    const { org, user } = await allowing();
    await world.owner.query(
      `INSERT INTO app.analytics_event (id, org_id, user_id, name, at, properties) SELECT gen_random_uuid(), $1, $2, 'member_joined', now(), '{}' FROM generate_series(1, 30000)`,
      [org, user],
    );
    await world.audit(org, user, 'api-key.create');
    const signal = AbortSignal.timeout(60_000);
    await world.maker().run(signal);
    expect(new Set(await world.waiting())).toEqual(new Set(['member_joined']));
    expect(await world.registry.metrics()).toMatch(/^analytics_backlog 30000$/m);
    await world.owner.query('DELETE FROM app.analytics_event');
    await world.maker().run(signal);
    expect(await world.waiting()).toContain('api_key_created');
  });

  it('of model calls are made of a run where that is on, with tokens and cost, and the name of an organization’s own model is left out', async () => {
    const { org, user } = await allowing();
    const call = (model: string) => ({
      ...{
        id: randomUUID(),
        traceId: 'x',
        model,
        purpose: 'agent',
        attempts: 1,
        prompt: 100,
        cached: 40,
        completion: 20,
        cost: '0.0125',
        priced: true,
      },
      ...{ status: 'ok' as const, errorCode: null, at: new Date().toISOString(), firstByteMs: 200, latencyMs: 1_500 },
    });
    const signal = AbortSignal.timeout(60_000);
    for (const [model, sent] of [
      ['gpt-5.2', 'gpt-5.2'],
      [`profile/${PLANTED.branch}`, 'profile'],
    ] as const) {
      world.posthog.clear();
      world.calls = [call(model.replace('profile/', ''))];
      await world.append(org, await world.conversation(org, user, model), run(1, 1));
      await world.maker().run(signal);
      await world.append(org, await world.conversation(org, user, model), run(1, 1));
      await world.maker(true).run(signal);
      await world.sender().run(signal);
      const made = [...world.posthog.events.values()].filter(({ event }) => event === '$ai_generation');
      expect(made.map(({ properties }) => properties)).toEqual([
        expect.objectContaining({
          ...{
            $ai_model: sent,
            $ai_input_tokens: 100,
            $ai_output_tokens: 20,
            $ai_cache_read_input_tokens: 40,
            $ai_total_cost_usd: 0.0125,
          },
          ...{ $ai_latency: 1.5, $ai_time_to_first_token: 0.2, $ai_is_error: false },
        }),
      ]);
      expect(
        Object.keys(made[0]?.properties ?? {}).filter(
          (key) => /input$|output|choices/.test(key) && !key.endsWith('tokens'),
        ),
      ).toEqual([]);
    }
  });

  it('read what a sandbox wrote without trust: no shape breaks it, and no start or pull request of its own counts', async () => {
    const { org, user } = await allowing();
    const id = await world.conversation(org, user);
    await world.append(org, id, [
      message(),
      status('running'),
      update('stats', { accumulated_cost: -5, prompt_tokens: 'many', completion_tokens: 1e308 }),
      update('stats', { accumulated_cost: 1e308, prompt_tokens: 0, completion_tokens: 0 }),
      update('stats', { accumulated_cost: 1e-9, prompt_tokens: 10, completion_tokens: 5 }),
      update('execution_status', { deep: PLANTED.prompt }),
      update('x'.repeat(30_000), 'y'),
      { kind: 'ObservationEvent', observation: 'none' },
      pullRequest(randomUUID(), { number: 1, state: 'merged', publish: 'done', headSha: 'x' }),
      update('start_task', { attempt: 1, status: 'ERROR', state: 'failed', code: 'internal.unexpected' }),
      ...tool(true),
      status('stuck'),
      stats(2, 3),
    ]);
    await world.round();
    expect(names().sort()).toEqual([
      'agent_task_completed',
      'conversation_started',
      'first_event_seen',
      'first_tool_succeeded',
      'org_created',
      'user_signed_up',
    ]);
  });
});
