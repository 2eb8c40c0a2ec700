import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { letRun } from './let-run.js';
import { idleTimes, probe } from './probe.js';
import { TestAgent } from './test-agent.js';

let server: TestAgent;
beforeAll(async () => {
  server = await new TestAgent().start();
});
beforeEach(() => {
  server.seen.length = 0;
});
afterAll(() => server?.close());

describe('a probe', () => {
  const look = (signal = AbortSignal.timeout(20_000)) => probe(server.client(), 'c', signal);

  it('is alive at any success', async () => {
    server.respond = (_request, response) => void response.end('not read');
    expect(await look()).toBe('alive');
  });

  it('is dead only with certainty', async () => {
    const outcomes: string[] = [];
    for (const [status, code] of [
      [404, 'resource.not-found'],
      [401, 'auth.missing'],
      [503, 'sandbox.dormant'],
      [403, null],
      [404, null],
      [409, 'conversation.busy'],
      [500, 'internal.unexpected'],
      [503, 'service.unavailable'],
      [502, null],
    ] as const) {
      server.refuse(status, code);
      outcomes.push(await look());
    }
    expect(outcomes).toEqual([...Array<string>(5).fill('dead'), ...Array<string>(4).fill('silent')]);
    server.respond = (_request, response) => void response.destroy();
    expect(await look()).toBe('silent');
    server.respond = () => {};
    expect(await look()).toBe('silent');
    const gone = await new TestAgent().start();
    const client = gone.client();
    await gone.close();
    expect(await probe(client, 'c', AbortSignal.timeout(20_000))).toBe('dead');
  }, 40_000);

  it('rejects with the reason of its signal alone', async () => {
    await expect(look(AbortSignal.abort(new Error('over')))).rejects.toThrow('over');
  });
});

describe('idle times', () => {
  it('are unknown when the sandbox does not say', async () => {
    server.respond = (_request, response) => void response.end('{"idle_time":4,"person_idle_time":7}');
    expect(await idleTimes(server.url)).toEqual({ user: 7, anybody: 4 });
    server.respond = (_request, response) => void response.end('{"idle_time":4}');
    expect(await idleTimes(server.url)).toEqual({ user: null, anybody: 4 });
    server.refuse(500, null);
    expect(await idleTimes(server.url)).toEqual({ user: null, anybody: null });
  });
});

describe('letting an agent run', () => {
  it('is done when it runs already, and says when it waits for a user', async () => {
    const run = () => letRun(server.client(), 'c');
    server.respond = (_request, response) => void response.end('{}');
    expect(await run()).toBe('runs');
    const outcomes: string[] = [];
    for (const code of ['conversation.busy', 'conversation.awaits-confirmation', 'conversation.four-eyes']) {
      server.refuse(409, code);
      outcomes.push(await run());
    }
    expect(outcomes).toEqual(['runs', 'waits', 'waits']);
    server.refuse(500, null);
    await expect(run()).rejects.toMatchObject({ code: 'sandbox.unreachable' });
  });
});
