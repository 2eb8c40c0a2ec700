import { readFileSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { createLogger, GracefulStop } from '@slipway/telemetry';
import { expect } from 'expect';
import { loadConfig as loadEgressConfig } from '../../apps/egress-proxy/dist/config.js';
import { startEgressProxy } from '../../apps/egress-proxy/dist/egress-proxy.js';
import { PORT_OFFSETS } from '../../deploy/local/settings.ts';
import { OpenStack } from '../stack/open-stack.ts';
import { finish } from '../stack/script-book.ts';
import { familiesOf, METRICS_PAGE, type Metric, metricTables, pageWith } from './metrics-page.ts';

/** Processes of the platform that a Prometheus scrapes; embedded-identity is for one machine only. */
const APPS = Object.keys(PORT_OFFSETS).filter((service) => service !== 'postgres' && service !== 'embedded-identity' && service !== 'web');

describe('docs/operate/metrics.md', { timeout: 300_000 }, () => {
  it('names every metric that the running apps expose, with type and meaning, and no other (WRITE=1 writes it anew)', async () => {
    const open = await OpenStack.open();
    try {
      // Some appear with the first request, event or call.
      await (await open.talk('metrics', [finish()])).ended('finished');
      const apps = new Map<string, Metric[]>();
      for (const app of APPS.sort()) {
        const answer = await fetch(`http://127.0.0.1:${open.port + PORT_OFFSETS[app as keyof typeof PORT_OFFSETS]}/metrics`);
        expect([app, answer.status]).toEqual([app, 200]);
        apps.set(app, familiesOf(await answer.text()));
      }
      apps.set('egress-proxy', familiesOf(await metricsOfEgressProxy()));
      apps.set('web', familiesOf(await metricsOfWeb()));
      const page = pageWith(metricTables(apps));
      if (process.env['WRITE'] === '1') writeFileSync(METRICS_PAGE, page);
      expect(readFileSync(METRICS_PAGE, 'utf8')).toBe(page);
    } finally {
      await open.close();
    }
  });
});

/** It has no place in the local stack, whose sandboxes have no egress classes. */
async function metricsOfEgressProxy(): Promise<string> {
  const logger = createLogger('egress-proxy', 'silent');
  const config = loadEgressConfig({ EGRESS_SECRET: 'x'.repeat(32), EGRESS_RULES: '{}', EGRESS_PORT: '0', PORT: '0' });
  const proxy = await startEgressProxy(config, logger, new GracefulStop({ logger, drainSeconds: 0 }));
  try {
    return await (await fetch(`${proxy.healthUrl}/metrics`)).text();
  } finally {
    await proxy.close();
  }
}

/** The route of the pages' server as it is, without Next around it, which takes longer to start than all others together. */
async function metricsOfWeb(): Promise<string> {
  const { GET } = (await import('../../apps/web/src/app/metrics/route.ts')) as { GET: () => Response };
  return GET().text();
}
