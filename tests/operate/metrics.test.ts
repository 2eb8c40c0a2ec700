import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { itUnless } from '@slipway/testing/jest';
import { BOARDS } from '../../tools/dashboards/files.ts';
import { promql } from '../../tools/dashboards/promql.ts';
import { openGoProgram } from './go-program.ts';
import { familiesOf, METRICS_PAGE, metricTables, pageWith } from './metrics-page.ts';
import { Prometheus } from './prometheus.ts';
import { WatchedStack } from './watched-stack.ts';

/** Panels that have nothing to show after a run in which all goes well, and why. */
const NO_CONNECTION =
  'The local stack has no connection to a provider, and so no delivery: tests/integrations has them.';
const NO_EGRESS =
  'The sandboxes of this machine have no egress class, and none that was let through: tests/cluster has them.';
const NO_BROKER = 'No host has a brokered credential here: apps/credential-broker has such requests.';
const WITHOUT_DATA: Readonly<Record<string, string>> = {
  'Integrations: By provider and outcome': NO_CONNECTION,
  'Integrations: Conversations that they ended': NO_CONNECTION,
  'Integrations: Failed verification, by reason': NO_CONNECTION,
  'Integrations: Job time (p95)': NO_CONNECTION,
  'Integrations: Time to answer p50': NO_CONNECTION,
  'Integrations: Time to answer p99': NO_CONNECTION,
  'Overview: Requests failed on our side': 'None did. A series begins with the first of a route.',
  'Pool and queue: Problems': 'No pool has one.',
  'Sandboxes: Access tokens': NO_BROKER,
  'Sandboxes: Broker connections cut': NO_BROKER,
  'Sandboxes: Connections cut': NO_EGRESS,
  'Sandboxes: Requests by outcome': NO_CONNECTION,
  'Sandboxes: Requests to places': NO_BROKER,
  'Sandboxes: Time to connect p50': NO_EGRESS,
  'Sandboxes: Time to connect p99': NO_EGRESS,
  'Sandboxes: Time to judge a request p50': NO_BROKER,
  'Sandboxes: Time to judge a request p99': NO_BROKER,
};

const found = await openGoProgram('prometheus');
const skip = typeof found === 'string' ? found : false;

jest.setTimeout(300_000);

describe('the whole stack, watched', () => {
  let stack: WatchedStack;
  let prometheus: Prometheus | undefined;
  beforeAll(async () => {
    stack = await WatchedStack.start();
    if (typeof found !== 'string')
      prometheus = await Prometheus.start(
        found.program,
        new Map([...stack.metrics].map(([app, address]) => [`r-slipway-${app}`, address])),
      );
    // Some metrics appear with the first request, event or call; a rate needs what comes after that.
    await stack.work('first');
    await stack.knock();
    await prometheus?.scraped('sum(llm_calls_total) > 0');
    await stack.fail('failing');
    await stack.stop('stopped');
    await stack.work('second');
    await stack.knock();
  });
  afterAll(async () => {
    await prometheus?.stop();
    await stack?.close();
  });

  it('exposes what docs/operate/metrics.md names, with type and meaning, and no other (WRITE=1 rewrites it)', async () => {
    const apps = new Map(
      await Promise.all(
        [...stack.metrics.keys()].map(async (app) => [app, familiesOf(await stack.metricsOf(app))] as const),
      ),
    );
    const page = pageWith(metricTables(apps));
    if (process.env['WRITE'] === '1') writeFileSync(METRICS_PAGE, page);
    expect(readFileSync(METRICS_PAGE, 'utf8')).toBe(page);
  });

  itUnless(skip)('counts each run, start, job and refusal once, and nothing that Postgres has refused', async () => {
    const ask = prometheus as Prometheus;
    // The last to come: ten seconds after a run.
    await ask.scraped('sum(conversation_cost_usd_count) >= 3');
    const counted = async (expr: string): Promise<number | undefined> => (await ask.query(expr))[0]?.value;
    expect({
      finished: await counted('sum(conversations_ended_total{result="finished", trigger="user"})'),
      error: await counted('sum(conversations_ended_total{result="error", trigger="user"})'),
      startRefused: await counted('sum(conversations_ended_total{result="start-refused", trigger="user"})'),
      stopped: await counted('sum(conversations_ended_total{result="stopped", trigger="user"})'),
      otherwise: await counted('sum(conversations_ended_total{result=~"stuck|start-failed"})'),
      firstEvents: await counted('sum(conversation_first_event_seconds_count)'),
      costs: await counted('sum(conversation_cost_usd_count{result="finished"})'),
      starts: await counted('sum(jobs_total{queue="conversation-start", result="done"}) >= bool 5'),
      foreign: await counted('sum(access_refused_total{code="resource.not-found"})'),
      denied: await counted('sum(db_denied_total)'),
    }).toEqual({
      finished: 2,
      error: 1,
      stopped: 1,
      startRefused: 1,
      otherwise: 0,
      firstEvents: 4,
      costs: 2,
      starts: 1,
      foreign: 2,
      denied: 0,
    });
  });

  it('has no metrics on a port that clients or sandboxes reach', () => stack.expectPublicPortsWithoutMetrics());

  itUnless(skip)('has data in each panel of each dashboard, as Prometheus itself answers it', async () => {
    const ask = prometheus as Prometheus;
    await ask.scraped('sum(conversation_cost_usd_count) >= 2');
    const questions = BOARDS.flatMap(({ title: board, rows }) =>
      rows.flatMap(({ panels }) =>
        panels.flatMap(({ title, lines }) =>
          lines.map(({ query, name = '' }) => ({ where: `${board}: ${title} ${name}`.trim(), query })),
        ),
      ),
    );
    const empty: string[] = [];
    for (const { where, query } of questions) {
      const answer = await ask.query(promql(query, '5m').replaceAll('$__range', '1h'));
      // A quotient and a quantile of nothing are NaN, which a panel shows as no data.
      if (!answer.some(({ value }) => Number.isFinite(value))) empty.push(where);
    }
    expect(empty.sort()).toEqual(Object.keys(WITHOUT_DATA).sort());
    expect(questions.length).toBeGreaterThan(150);
  });
});
