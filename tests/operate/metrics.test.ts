import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { createLogger, GracefulStop } from '@slipway/telemetry';
import { freePort } from '@slipway/testing';
import { expect } from 'expect';
import { loadConfig as loadEgressConfig } from '../../apps/egress-proxy/dist/config.js';
import { startEgressProxy } from '../../apps/egress-proxy/dist/egress-proxy.js';
import { startProcess, waitForHttp } from '../../bench/measure/child-process.ts';
import { type LocalService, METRICS_OFFSET, PORT_OFFSETS, ROOT } from '../../deploy/local/settings.ts';
import { OpenStack } from '../stack/open-stack.ts';
import { finish } from '../stack/script-book.ts';
import { familiesOf, METRICS_PAGE, type Metric, metricTables, pageWith } from './metrics-page.ts';

type Service = Exclude<keyof typeof PORT_OFFSETS, 'postgres' | 'web'>;
/** Services of the stack that the suite starts. */
const SERVICES = (Object.keys(PORT_OFFSETS) as LocalService[]).filter((service) => service !== 'postgres' && service !== 'web') as Service[];
/** What a Prometheus reads; embedded-identity is for one machine only. */
const SCRAPED = SERVICES.filter((service) => service !== 'embedded-identity');

describe('docs/operate/metrics.md', { timeout: 300_000 }, () => {
  it('names every metric that the running apps expose, with type and meaning, and no other (WRITE=1 writes it anew)', async () => {
    const open = await OpenStack.open();
    try {
      // Some appear with the first request, event or call.
      await (await open.talk('metrics', [finish()])).ended('finished');
      const apps = new Map<string, Metric[]>();
      for (const app of SCRAPED.sort()) {
        apps.set(app, familiesOf(await metricsOf(open, app)));
      }
      apps.set('egress-proxy', familiesOf(await metricsOfEgressProxy()));
      apps.set('web', familiesOf(await metricsOfWeb()));
      const page = pageWith(metricTables(apps));
      if (process.env['WRITE'] === '1') writeFileSync(METRICS_PAGE, page);
      expect(readFileSync(METRICS_PAGE, 'utf8')).toBe(page);
      await expectPublicPortsWithoutMetrics(open);
    } finally {
      await open.close();
    }
  });
});

/** An outsider, and every sandbox, reaches the public port: what the platform has to do and earns is not theirs to read. */
async function expectPublicPortsWithoutMetrics(open: OpenStack): Promise<void> {
  for (const app of SERVICES) {
    const answer = await fetch(`${open.addressOf(app)}/metrics`, { redirect: 'manual' });
    expect([app, answer.status]).toEqual([app, 404]);
    expect([app, await answer.text()]).not.toEqual([app, expect.stringContaining('process_')]);
  }
}

async function metricsOf(open: OpenStack, app: Service): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${open.port + METRICS_OFFSET + PORT_OFFSETS[app]}/metrics`);
  expect([app, answer.status]).toEqual([app, 200]);
  return answer.text();
}

/** It has no place in the local stack, whose sandboxes have no egress classes. */
async function metricsOfEgressProxy(): Promise<string> {
  const logger = createLogger('egress-proxy', 'silent');
  const config = loadEgressConfig({ EGRESS_SECRET: 'x'.repeat(32), EGRESS_RULES: '{}', EGRESS_PORT: '0', PORT: '0' });
  const proxy = await startEgressProxy(config, logger, new GracefulStop({ logger, drainSeconds: 0 }));
  try {
    const onPublicPort = await fetch(`${proxy.healthUrl}/metrics`);
    expect(['egress-proxy', onPublicPort.status]).toEqual(['egress-proxy', 404]);
    return await (await fetch(`${proxy.metricsUrl}/metrics`)).text();
  } finally {
    await proxy.close();
  }
}

/** The pages' server as it is built. */
async function metricsOfWeb(): Promise<string> {
  const [port, metricsPort] = [await freePort(), await freePort()];
  const env = { PORT: String(port), METRICS_PORT: String(metricsPort), HOSTNAME: '127.0.0.1', NODE_ENV: 'production' };
  const web = startProcess(process.execPath, [path.join(ROOT, 'apps/web/.next/standalone/apps/web/server.js')], env, ROOT);
  try {
    await waitForHttp(`http://127.0.0.1:${port}/alive`, web);
    const onPublicPort = await fetch(`http://127.0.0.1:${port}/metrics`);
    // The name is one that an organization could have; behind app-server the path is not the pages' at all.
    expect(['web', await onPublicPort.text()]).toEqual(['web', expect.not.stringContaining('process_')]);
    await waitForHttp(`http://127.0.0.1:${metricsPort}/metrics`, web);
    return await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  } finally {
    await web.stop();
  }
}
