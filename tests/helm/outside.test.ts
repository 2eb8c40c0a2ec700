import { expect, it } from '@jest/globals';
import { missingForHelm } from '@slipway/testing/helm';
import { describeUnless } from '@slipway/testing/jest';
import { type Manifest, MINIMUM, ofKind, render, type Values } from './chart.ts';

const APPS = ['app-server', 'worker', 'runtime-api', 'llm-gateway', 'sandbox-gateway', 'web'] as const;

/** Rules of the way out of each app, as ports with whom they lead to. */
async function waysOut(
  ...values: Values[]
): Promise<Record<string, ReadonlyArray<{ ports: number[]; to: Manifest[] }>>> {
  const { code, objects, said } = await render([MINIMUM, ...values]);
  expect([code, code === 0 ? '' : said]).toEqual([0, '']);
  return Object.fromEntries(
    APPS.map((app) => {
      const policy = ofKind(objects, 'NetworkPolicy').find(
        ({ metadata }) => metadata.labels?.['app.kubernetes.io/component'] === app,
      );
      return [
        app,
        policy.spec.egress.map((rule: Manifest) => ({
          ports: (rule.ports ?? []).map(({ port }: Manifest) => port),
          to: rule.to ?? [],
        })),
      ];
    }),
  );
}
const appsWith = (ways: Awaited<ReturnType<typeof waysOut>>, port: number, cidr: string | null): string[] =>
  APPS.filter((app) =>
    ways[app]?.some(
      ({ ports, to }) =>
        ports.includes(port) &&
        (cidr === null ? to.length === 0 : to.some(({ ipBlock }: Manifest) => ipBlock?.cidr === cidr)),
    ),
  );

describeUnless(missingForHelm())('what the platform reaches outside', () => {
  it('are git hosts, trackers and webhooks at public addresses, from the two apps that call them', async () => {
    const ways = await waysOut();
    expect(appsWith(ways, 443, '0.0.0.0/0')).toEqual(['app-server', 'worker']);
    const [rule] = ways['worker']?.filter(({ ports }) => ports.includes(443)) ?? [];
    expect(rule?.ports).toEqual([443]);
    for (const range of ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16'])
      expect(rule?.to[0]?.ipBlock.except).toContain(range);
  });

  it('is a git host in one’s own network where values name it, and the proxy where calls go through one', async () => {
    const own = await waysOut({
      networkPolicy: { integrations: { to: [{ ipBlock: { cidr: '10.0.0.7/32' } }], ports: [443, 3000] } },
    });
    expect([appsWith(own, 3000, '10.0.0.7/32'), appsWith(own, 443, '0.0.0.0/0')]).toEqual([
      ['app-server', 'worker'],
      [],
    ]);
    const proxied = await waysOut({ proxy: { https: 'http://proxy.example.com:3128' } });
    expect(appsWith(proxied, 3128, null)).toEqual(expect.arrayContaining(['app-server', 'worker']));
  });

  it('is an OTLP receiver where one is named, from worker alone', async () => {
    expect(appsWith(await waysOut(), 4318, null)).toEqual([]);
    const named = { observability: { otlp: { endpoint: 'http://otel-collector.monitoring:4318' } } };
    expect(appsWith(await waysOut(named), 4318, null)).toEqual(['worker']);
  });

  it('is PostHog where its host is named, from worker alone', async () => {
    expect(appsWith(await waysOut(), 8444, null)).toEqual([]);
    const posthog = { host: 'https://posthog.example.com:8444', existingSecret: 'posthog' };
    expect(appsWith(await waysOut({ observability: { posthog } }), 8444, null)).toEqual(['worker']);
    const own = {
      observability: { posthog },
      networkPolicy: { posthog: { to: [{ ipBlock: { cidr: '10.0.0.8/32' } }], ports: [8444] } },
    };
    const ways = await waysOut(own);
    expect([appsWith(ways, 8444, '10.0.0.8/32'), appsWith(ways, 8444, null)]).toEqual([['worker'], []]);
  });
});
