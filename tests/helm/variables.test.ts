import { readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, expect, it } from '@jest/globals';
import { missingForHelm } from '@slipway/testing/helm';
import { describeUnless } from '@slipway/testing/jest';
import { EVERYTHING, type Manifest, MINIMUM, ofKind, ROOT, render } from './chart.ts';

/** Node's own, parts of URLs, and what libraries read by themselves: no app documents them. */
const NOT_OF_AN_APP =
  /^(NODE_(EXTRA_CA_CERTS|OPTIONS|USE_ENV_PROXY)|DD_\w+|SLIPWAY_TRACES_\w+|(HTTPS?|NO)_PROXY|(DATABASE|REDIS)_PASSWORD|AWS_\w+|ANTHROPIC_API_KEY|EXTRA)$/;
/** Sections of docs/configuration.md that the chart deploys nothing of; the chart's README says why. */
const NOT_DEPLOYED = ['action-server', 'agent-server', 'embedded-identity'];

const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
/** Names of variables by app. */
function documented(): Map<string, string[]> {
  const sections = read('docs/configuration.md').split(/^## /m).slice(1);
  return new Map(
    sections.map((section) => [
      section.split('\n')[0] ?? '',
      [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, name = '']) => name),
    ]),
  );
}
/** By app: what the chart's README says has no value. */
function withoutValue(): Map<string, string[]> {
  const table = read('helm/slipway/README.header.md').split('## Variables without a value')[1] ?? '';
  const found = new Map<string, string[]>();
  for (const [, apps = '', variables = '', why = ''] of table.matchAll(
    /^\| ([a-z, -]+) \| (`[^|]+`) \| ([^|]+) \|$/gm,
  )) {
    expect(why.length).toBeGreaterThan(10);
    for (const app of apps.split(', '))
      found.set(app, [...(found.get(app) ?? []), ...variables.replaceAll('`', '').split(', ')]);
  }
  return found;
}

describeUnless(missingForHelm())('the variables of docs/configuration.md', () => {
  let given: Map<string, string[]>;
  const apps = documented();
  beforeAll(async () => {
    const { objects, code, said } = await render([MINIMUM, EVERYTHING]);
    expect([code, code === 0 ? '' : said]).toEqual([0, '']);
    given = new Map(
      ofKind(objects, 'Deployment').map(({ metadata, spec }) => [
        metadata.labels['app.kubernetes.io/component'],
        spec.template.spec.containers[0].env.map(({ name }: Manifest) => name),
      ]),
    );
  });

  it('are of an app that the chart deploys, or of one that its README names', () => {
    expect([...apps.keys()].filter((app) => !given.has(app)).sort()).toEqual(NOT_DEPLOYED);
    for (const app of NOT_DEPLOYED) expect(read('helm/slipway/README.header.md')).toContain(app);
  });

  for (const [app, variables] of apps)
    if (!NOT_DEPLOYED.includes(app)) {
      it(`of ${app} are set by the chart, or its README says why not`, () => {
        expect(variables.filter((name) => !given.get(app)?.includes(name)).sort()).toEqual(
          [...(withoutValue().get(app) ?? [])].sort(),
        );
      });
      it(`of ${app} are all that the chart sets`, () => {
        expect(given.get(app)?.filter((name) => !variables.includes(name) && !NOT_OF_AN_APP.test(name))).toEqual([]);
      });
    }
});
