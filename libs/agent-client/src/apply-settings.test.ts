import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { AGENT_ROUTES, type AgentRouteName, type ApplySettings } from '@slipway/contracts/agent';
import { applySettings } from './apply-settings.js';
import { TestAgent } from './test-agent.js';

describe('settings', () => {
  let server: TestAgent;
  beforeAll(async () => {
    server = await new TestAgent().start();
  });
  beforeEach(() => {
    server.seen.length = 0;
  });
  afterAll(() => server?.close());
  const request: ApplySettings = {
    settings: {
      model: { model: 'm' },
      agentType: 'plan',
      limits: { maxIterations: 9, maxBudgetUsd: null },
      confirmation: {
        policy: { kind: 'NeverConfirm' },
        analyzer: null,
        organization: { floor: 'never', fourEyes: false },
      },
    },
    version: 4,
    epoch: 2,
    chosen: false,
    dryRun: false,
    earlierVersions: { runSettings: 7, confirmation: 8 },
  };
  const apply = (more: Partial<ApplySettings> = {}) => applySettings(server.client(), 'c', { ...request, ...more });
  /** The names of the routes that were called. */
  const routes = () =>
    server.seen.map(
      ({ route }) =>
        Object.entries(AGENT_ROUTES).find(
          ([, { method, path }]) => route === `${method} ${path.replace(':id', 'c')}`,
        )?.[0],
    );
  /** Refuses these routes with `resource.not-found`, and answers the others. */
  const without = (...missing: AgentRouteName[]): void => {
    const paths = new Set(missing.map((name) => AGENT_ROUTES[name].path.replace(':id', 'c')));
    server.respond = ({ route }, response) => {
      const isMissing = paths.has(route.split(' ')[1] ?? '');
      response.writeHead(isMissing ? 404 : 200).end(isMissing ? '{"code":"resource.not-found"}' : '{}');
    };
  };

  it('are one request where the agent knows the route', async () => {
    server.respond = (_request, response) => void response.end('{"version":4,"refused":[]}');
    expect(await apply()).toEqual({ version: 4, refused: [] });
    expect(server.seen).toMatchObject([{ route: 'PUT /api/slipway/conversations/c/settings', body: request }]);
  });

  it('reach an agent of the release before, the confirmation policy first', async () => {
    without('applySettings');
    expect(await apply()).toEqual({ version: 4, refused: [] });
    expect(routes()).toEqual([
      'applySettings',
      'earlierConfirmation',
      ...Array<string>(3).fill('earlierRunSettings'),
      'switchLlm',
    ]);
    expect(server.seen.slice(1, 3)).toMatchObject([
      { body: { policy: { kind: 'NeverConfirm' }, version: 8, epoch: 2, chosen: false } },
      { body: { max_iterations: 9, version: 7, epoch: 2 } },
    ]);
  });

  it('that such an agent refuses are named, and the others go on', async () => {
    server.respond = ({ route, body }, response) => {
      if (route.endsWith('/settings')) response.writeHead(404).end('{"code":"resource.not-found"}');
      else if (JSON.stringify(body).includes('max_iterations'))
        response
          .writeHead(400)
          .end('{"code":"request.invalid","detail":"no","fields":[{"path":"max_iterations","message":"at most 5"}]}');
      else if (JSON.stringify(body).includes('agent_type'))
        response.writeHead(409).end('{"code":"conversation.busy","detail":"at work"}');
      else response.end('{}');
    };
    expect(await apply()).toEqual({
      version: 4,
      refused: [
        { setting: 'maxIterations', code: 'request.invalid', detail: 'at most 5' },
        { setting: 'agentType', code: 'conversation.busy', detail: 'at work' },
      ],
    });
    expect(routes().at(-1)).toBe('switchLlm');
  });

  it('can be tried on an agent that knows no trial: it refuses nothing', async () => {
    without('applySettings', 'checkEarlierRunSettings');
    expect(await apply({ dryRun: true })).toEqual({ version: 4, refused: [] });
    expect(routes()).toEqual(['applySettings', ...Array<string>(3).fill('checkEarlierRunSettings')]);
  });

  it('wait for the next start of an agent of before settings could change, and fail where the conversation is missing', async () => {
    without('applySettings', 'earlierConfirmation');
    expect(await apply()).toMatchObject({ version: 4, refused: [{ setting: 'agentType', code: 'request.invalid' }] });
    without('applySettings', 'earlierConfirmation', 'conversation');
    await expect(apply()).rejects.toMatchObject({
      code: 'sandbox.unreachable',
      failure: { kind: 'answered', code: 'resource.not-found' },
    });
  });

  it('of another epoch are refused', async () => {
    server.refuse(409, 'ingest.stale-epoch');
    await expect(apply()).rejects.toMatchObject({ code: 'ingest.stale-epoch' });
  });
});
