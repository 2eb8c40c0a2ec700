import { describe, expect, it } from '@jest/globals';
import Fastify from 'fastify';
import { pino } from 'pino';
import { currentContext } from './context.js';
import { createMetrics, installTelemetry } from './http/index.js';
import { createLogger } from './logger.js';

const CONVERSATION = '01a21562-5b04-7f51-b8e5-29d7fb3eab1e';

describe('the access line', () => {
  it('is one for each request at the default level, with whose it was, and none for probes', async () => {
    const lines: Array<Record<string, unknown>> = [];
    const access = pino(
      { level: 'info', messageKey: 'message' },
      { write: (line: string) => lines.push(JSON.parse(line) as Record<string, unknown>) },
    );
    const app = Fastify();
    installTelemetry(app, {
      registry: createMetrics('test'),
      logger: createLogger('test', 'silent'),
      access,
      ready: async () => {},
    });
    app.get('/conversations/:conversation/events', async () => {
      Object.assign(currentContext() ?? {}, { orgId: 'org_1', userId: 'usr_1' });
      return 'ok';
    });
    app.get('/broken', async () => Promise.reject(new Error('broken')));
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    await app.inject({
      url: `/conversations/${CONVERSATION}/events?secret=in-the-address`,
      headers: { traceparent, 'x-request-id': 'req_12345' },
    });
    await app.inject('/conversations/no-id/events');
    await app.inject('/broken');
    await app.inject('/nowhere');
    for (const probe of ['/alive', '/ready']) await app.inject(probe);
    await app.close();
    expect(lines).toMatchObject([
      {
        ...{
          message: 'request',
          level: 30,
          method: 'GET',
          route: '/conversations/:conversation/events',
          status: 200,
          elapsed_ms: expect.any(Number),
        },
        ...{
          request_id: 'req_12345',
          trace_id: 'a'.repeat(32),
          org_id: 'org_1',
          user_id: 'usr_1',
          conversation_id: CONVERSATION,
        },
      },
      { status: 200 },
      { status: 500, level: 50, route: '/broken' },
      { status: 404, route: 'none' },
    ]);
    expect(lines[1]).not.toHaveProperty('conversation_id');
    expect(JSON.stringify(lines)).not.toContain('in-the-address');
  });
});
