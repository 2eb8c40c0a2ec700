import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { CreatedProgramKey } from '@slipway/contracts/openhands';
import { describeUnless } from '@slipway/testing/jest';
import { OpenStack } from '../stack/open-stack.ts';
import { finish, terminal } from '../stack/script-book.ts';
import { openhandsEnvironment, Sdk } from './world.ts';

const environment = await openhandsEnvironment();
const missing = 'missing' in environment ? `OpenHands' SDK is not tried: ${environment.missing}` : null;

const NAME = 'API_TOKEN';
const SECRET = 'a-value-that-nobody-may-read-2718';

/** `OpenHandsCloudWorkspace`: the app starts the sandbox, the client brings the agent. */
jest.setTimeout(300_000);

describeUnless(missing)("OpenHands' cloud workspace, unmodified", () => {
  let open: OpenStack | undefined;
  let sdk: Sdk | undefined;
  beforeAll(async () => {
    if ('missing' in environment) return;
    const started = await Promise.allSettled([
      OpenStack.open().then((stack) => {
        open = stack;
      }),
      Sdk.start(environment).then((client) => {
        sdk = client;
      }),
    ]);
    for (const result of started) if (result.status === 'rejected') throw result.reason;
  });
  afterAll(async () => {
    await sdk?.close();
    await open?.close();
  });

  const ready = (): { stack: OpenStack; client: Sdk } => {
    if (open === undefined || sdk === undefined) throw new Error('nothing was started');
    return { stack: open, client: sdk };
  };
  const made = async <T>(path: string, json: object): Promise<T> => {
    const response = await ready().stack.user.fetch(path, { method: 'POST', json });
    expect([response.ok, await response.clone().text()]).toEqual([true, expect.any(String)]);
    return response.json() as Promise<T>;
  };

  it('works in a sandbox with the app’s model and secrets, whose key and values no client has, and pauses, resumes and gives it back', async () => {
    const { stack, client } = ready();
    const { key } = await made<CreatedProgramKey>('/api/keys', { name: 'of the SDK' });
    await made(`/api/v1/orgs/${stack.orgId}/secrets`, {
      name: NAME,
      value: SECRET,
      scope: 'org',
      description: 'what for',
    });
    const harness = [
      terminal(
        `test "$ALSO_${NAME}" = "$${NAME}" && echo "it is $ALSO_${NAME}"; echo "$(cat brought.txt) where the agent works"`,
      ),
      finish(),
    ];
    const answer = await client.run<Record<string, unknown> & { events: object[] }>('cloud', {
      api: { url: stack.url, key },
      message: stack.book.write('cloud', harness),
      secret: NAME,
    });
    expect(answer).toMatchObject({
      alive: true,
      up: ['RUNNING', true, true],
      model: expect.stringContaining('scripted'),
      key: null,
      mcp: {},
      secrets: [NAME],
      value: null,
      directory: ['/workspace/project', true, 'from the client', 'from the client'],
      status: 'finished',
      pause: 'NotImplementedError',
      paused: ['PAUSED', false, false],
      resumed: [['RUNNING', true, true], 'kept\n'],
      attached: [true, 'kept\n'],
      deleted: ['PAUSED', false, false],
      shut: 401,
    });
    const said = JSON.stringify(answer.events);
    expect(said).toMatch(/it is <secret:\w+>/);
    expect(said).toContain('from the client where the agent works');
    expect(JSON.stringify(answer)).not.toContain(SECRET);
  });

  it('gets an error when its key is wrong', async () => {
    const { stack, client } = ready();
    expect(await client.run('refused_by_cloud', { api: { url: stack.url, key: '' } })).toBe(401);
  });
});
