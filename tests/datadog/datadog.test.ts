import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { Conversation } from '@slipway/contracts/conversations';
import { until } from '@slipway/testing';
import { describeUnless } from '@slipway/testing/jest';
import { OpenStack } from '../stack/open-stack.ts';
import { finish, terminal } from '../stack/script-book.ts';
import { AgentGate, type GateMode } from './agent-gate.ts';
import { type Span, TestAgent } from './test-agent.ts';
import { TRACED_APPS, TracedBundles } from './traced-bundles.ts';

const newTrace = (): string => randomBytes(16).toString('hex');
const click = (trace: string): Readonly<Record<string, string>> => ({
  traceparent: `00-${trace}-${randomBytes(8).toString('hex')}-01`,
});
/**
 * Spans that a conversation's trace may have more or fewer for reasons of time: what is asked while a sandbox starts.
 */
const SLACK = 40;

const agent = await TestAgent.start();

jest.setTimeout(300_000);

describeUnless('missing' in agent ? agent.missing : false)('the bundled services with dd-trace', () => {
  if ('missing' in agent) return;
  const gate = new AgentGate(agent.url);
  let bundles: TracedBundles;
  let open: OpenStack;
  beforeAll(async () => {
    await gate.open();
    bundles = await TracedBundles.make();
    const entries = Object.fromEntries(
      await Promise.all(TRACED_APPS.map(async (app) => [app, await bundles.add(app)])),
    );
    const environments = Object.fromEntries(TRACED_APPS.map((app) => [app, bundles.environment(app, gate.url, 1)]));
    open = await OpenStack.open({ entries, between: async () => environments });
  });
  afterAll(async () => {
    await open?.close();
    await gate.close();
    agent.stop();
    bundles?.remove();
  });

  /**
   * One conversation that runs `commands` commands, with what its click's trace holds once all three services have sent
   * it.
   */
  const converse = async (name: string, commands: readonly string[]): Promise<Span[]> => {
    const trace = newTrace();
    const prompt = open.book.write(name, [...commands.map((command) => terminal(command)), finish()]);
    const talk = open.follow(
      ((await (await open.create({ prompt }, open.user, click(trace))).json()) as Conversation).id,
    );
    await talk.ended('finished');
    let [before, quiet] = [-1, 0];
    // Each service sends every two seconds, and later on a busy machine.
    return until(
      'the trace is whole',
      async () => {
        const spans = await agent.spansOf(trace);
        quiet = spans.length === before ? quiet + 1 : 0;
        before = spans.length;
        await new Promise((resolve) => setTimeout(resolve, 2_500));
        const sent = TRACED_APPS.every((app) => spans.some(({ service }) => service === `slipway-${app}`));
        return sent && quiet >= 3 ? spans : null;
      },
      90_000,
    );
  };
  const logLines = (app: string): Record<string, unknown>[] =>
    readFileSync(path.join(open.stack.dataDirectory, 'logs', `${app}.log`), 'utf8')
      .split('\n')
      .slice(0, -1)
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  it('put a task into one trace, from the click through app-server, worker and runtime-api, and every span has its parent in it', async () => {
    const spans = await converse('short', [
      'tr "\\0" "\\n" < /proc/self/environ; tr "\\0" "\\n" < /proc/$PPID/environ',
    ]);
    const ids = new Set(spans.map(({ span_id }) => span_id));
    const roots = spans.filter(({ parent_id }) => !ids.has(parent_id));
    // The click's own span is the browser's.
    expect(roots.map(({ service, name, resource }) => [service, name, resource])).toEqual([
      ['slipway-app-server', 'fastify.request', 'POST /api/v1/orgs/:org/conversations'],
    ]);
    expect(new Set(spans.map(({ service }) => service))).toEqual(new Set(TRACED_APPS.map((app) => `slipway-${app}`)));
    expect(new Set(spans.map(({ meta }) => `${meta['env']} ${meta['version']}`))).toEqual(new Set(['test 0.1.0']));
    const commandLines = JSON.stringify(open.book.requestsOf('short').map(({ body }) => body));
    expect(commandLines).toContain('PATH=');
    // A sandbox gets none of it.
    expect(commandLines).not.toMatch(/NODE_OPTIONS|DD_SERVICE|preload\.mjs/);
    // The first one waits for the pool's first sandbox, and each look is a span.
    const short = await converse('one command', ['true']);
    const long = await converse(
      'many commands',
      Array.from({ length: 12 }, (_, index) => `seq ${index} 300`),
    );
    expect(Math.abs(long.length - short.length)).toBeLessThan(SLACK);
  });

  it('show each integration that is on, by name, and none that is off', async () => {
    // A wait for a connection of the pool is a span where there was one.
    const spans = (await agent.spans()).filter(({ name }) => name !== 'pg.pool.acquire');
    const seen = new Set(
      spans.map(({ service, name, meta }) =>
        `${service.replace('slipway-', '')} ${name} ${meta['component'] ?? ''}`.trim(),
      ),
    );
    expect(seen).toEqual(
      new Set([
        ...['app-server fastify.request fastify', 'app-server pg.query pg', 'app-server http.request fetch'],
        ...['worker conversation job', 'worker start sandbox', 'worker start workspace', 'worker start agent'],
        ...['worker bullmq.processJob bullmq', 'worker pg.query pg', 'worker undici.request undici'],
        // The files of a sandbox are fetched when its agent stops.
        ...['runtime-api fastify.request fastify', 'runtime-api pg.query pg', 'runtime-api http.request http'],
      ]),
    );
  });

  it('put each statement of two interleaved requests under its own', async () => {
    const ask = async (trace: string): Promise<void> => {
      expect(
        (await open.user.fetch(`/api/v1/orgs/${open.orgId}/conversations`, { headers: click(trace) })).status,
      ).toBe(200);
    };
    const alone = newTrace();
    await ask(alone);
    const traces = Array.from({ length: 8 }, newTrace);
    await Promise.all(traces.map(ask));
    const statements = (spans: readonly Span[]): string[] => {
      const root = spans.find(({ name }) => name === 'fastify.request');
      const ids = new Set(spans.map(({ span_id }) => span_id));
      expect(spans.filter(({ parent_id, name }) => name === 'pg.query' && !ids.has(parent_id))).toEqual([]);
      expect(root?.meta['http.route']).toBe('/api/v1/orgs/:org/conversations');
      return spans.flatMap(({ name, resource }) => (name === 'pg.query' ? [resource] : [])).sort();
    };
    const expected = await until('the first is sent', async () => {
      const spans = await agent.spansOf(alone);
      return spans.some(({ name }) => name === 'fastify.request') ? statements(spans) : null;
    });
    expect(expected.length).toBeGreaterThan(0);
    for (const trace of traces) {
      const own = await until('it is sent', async () => {
        const spans = await agent.spansOf(trace);
        return spans.some(({ name }) => name === 'fastify.request') ? spans : null;
      });
      // What the first one read into a cache is not asked for again.
      expect(expected).toEqual(expect.arrayContaining(statements(own)));
      expect(own.filter(({ resource }) => resource === 'BEGIN')).toHaveLength(
        expected.filter((text) => text === 'BEGIN').length,
      );
    }
  });

  it('write ids of trace and span into their lines, each line one JSON object', async () => {
    const line = await until('an access line', () =>
      logLines('app-server').find(
        ({ message, route }) => message === 'request' && String(route).includes('/conversations'),
      ),
    );
    const dd = line?.['dd'] as { trace_id: string; span_id: string };
    expect(dd).toEqual({ trace_id: line?.['trace_id'], span_id: expect.stringMatching(/^\d{1,20}$/) });
    await until('its span is sent', async () =>
      (await agent.spansOf(dd.trace_id)).some(({ span_id }) => span_id === dd.span_id),
    );
    for (const app of TRACED_APPS) expect(logLines(app).length).toBeGreaterThan(0);
  });

  it('send spans and nothing else: no configuration, no list of packages, no profile', () => {
    expect([...gate.paths].filter((path) => !['/info', '/v0.4/traces'].includes(path))).toEqual([]);
  });

  it('send no word of a prompt, no value of a statement and no header to the agent', async () => {
    const text = JSON.stringify(await agent.spans());
    for (const word of [
      'Please do it',
      'seq 3 300',
      open.user.cookie.slice(-30),
      open.secrets.runtimeApiKey,
      'sk-canary',
    ])
      expect(text).not.toContain(word);
    for (const { meta } of await agent.spans())
      if (meta['span.kind'] === 'client') expect(meta['http.url'] ?? 'http://h').toMatch(/^http:\/\/[^/]+$/);
    expect(text).not.toMatch(/error\.(message|stack)|useragent|_dd\.git|\/work\/|slipway-traced/);
  });

  for (const mode of ['absent', '500', 'reset', 'silent'] as const satisfies GateMode[])
    it(`answer as before while the agent is ${mode}, and say nothing of it`, async () => {
      await gate.set(mode);
      const before = gate.met[mode];
      const lines = TRACED_APPS.map((app) => logLines(app).filter(({ severity }) => severity === 'ERROR').length);
      for (let at = 0; at < 20; at += 1)
        expect((await open.user.fetch(`/api/v1/orgs/${open.orgId}/conversations`)).status).toBe(200);
      if (mode !== 'absent') await until('a tracer has met it', () => gate.met[mode] > before, 30_000);
      expect(TRACED_APPS.map((app) => logLines(app).filter(({ severity }) => severity === 'ERROR').length)).toEqual(
        lines,
      );
    });

  it('answer as before while the agent is slow, and send again when it is well', async () => {
    await gate.set('pass');
    await agent.delay(5);
    for (let at = 0; at < 20; at += 1)
      expect((await open.user.fetch(`/api/v1/orgs/${open.orgId}/conversations`)).status).toBe(200);
    await agent.delay(0);
    const trace = newTrace();
    await open.user.fetch('/api/v1/me', { headers: click(trace) });
    await until('it is sent', async () => (await agent.spansOf(trace)).length > 0, 60_000);
  });

  it('end in time and cleanly with an agent that never answers', async () => {
    await gate.set('silent');
    await open.user.fetch('/api/v1/me');
    await open.stack.stop();
    for (const app of TRACED_APPS) {
      const lines = logLines(app);
      const step = lines.find(({ step, message }) => step === 'traces' && message === 'stop: step done');
      expect([app, step?.['elapsed_ms']]).toEqual([app, expect.any(Number)]);
      expect(lines.at(-1)).toMatchObject({ message: 'stopped', clean: true });
    }
  });
});
