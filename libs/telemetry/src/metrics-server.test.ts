import { describe, expect, it } from '@jest/globals';
import Fastify from 'fastify';
import { createMetrics, installTelemetry } from './http/index.js';
import { createLogger } from './logger.js';
import { metricsAddress, startMetricsServer } from './metrics-server.js';

const logger = createLogger('test', 'silent');

async function service(ready: () => Promise<void> = async () => {}) {
  const app = Fastify({ forceCloseConnections: true });
  const telemetry = installTelemetry(app, {
    registry: createMetrics('test'),
    logger,
    ready,
    notes: async () => ({ pool: 'no room' }),
    metrics: { host: '127.0.0.1', port: 0 },
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return { app, url, inside: telemetry.metricsUrl() ?? '' };
}

describe('the metrics port', () => {
  it('serves /metrics, which an outsider on the public port does not find', async () => {
    const { app, url, inside } = await service();
    expect((await fetch(`${url}/metrics`)).status).toBe(404);
    const answer = await fetch(`${inside}/metrics`);
    expect([answer.status, await answer.text()]).toEqual([
      200,
      expect.stringContaining('process_resident_memory_bytes'),
    ]);
    expect((await fetch(`${inside}/anything`)).status).toBe(404);
    await app.close();
    await expect(fetch(`${inside}/metrics`)).rejects.toThrow();
  });

  it('gives the reason of /ready, which a caller behind a proxy of this machine is not given', async () => {
    const { app, url, inside } = await service(async () => {
      throw new Error('password authentication failed for user slipway_app');
    });
    const outside = await fetch(`${url}/ready`, { headers: { 'x-forwarded-for': '203.0.113.9' } });
    expect([outside.status, await outside.json()]).toEqual([503, { status: 'not ready' }]);
    const said = await fetch(`${inside}/ready`);
    expect([said.status, await said.json()]).toMatchObject([503, { reason: expect.stringContaining('password') }]);
    await app.close();
  });

  it('refuses to start on a port that is taken, and names the variable', async () => {
    const options = {
      host: '127.0.0.1',
      port: 0,
      contentType: 'text/plain',
      metrics: async () => '',
      readiness: async () => ({ reason: null, notes: {} }),
    };
    const first = await startMetricsServer(options);
    await expect(startMetricsServer({ ...options, port: Number(new URL(first.url).port) })).rejects.toThrow(
      'set METRICS_PORT',
    );
    await first.close();
  });
});

describe('metricsAddress', () => {
  it('is what the settings name, else 100 beside the own port, else any', () => {
    expect(metricsAddress({ HOST: '0.0.0.0', PORT: 3000, METRICS_HOST: '127.0.0.1', METRICS_PORT: 9464 })).toEqual({
      host: '127.0.0.1',
      port: 9464,
    });
    expect(metricsAddress({ HOST: '::', PORT: 3000 })).toEqual({ host: '::', port: 3100 });
    expect(metricsAddress({ HOST: '::', PORT: 65_500 })).toEqual({ host: '::', port: 65_400 });
    expect(metricsAddress({ HOST: '::', PORT: 0 })).toEqual({ host: '::', port: 0 });
  });
});
