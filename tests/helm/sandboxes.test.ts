import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, expect, it } from '@jest/globals';
import { missingForHelm } from '@slipway/testing/helm';
import { describeUnless } from '@slipway/testing/jest';
import { parseAllDocuments } from 'yaml';
import { DIGEST, type Manifest, MINIMUM, ofKind, ROOT, render } from './chart.ts';

const SOURCE = path.join(ROOT, 'deploy/kubernetes');
/** The ranges that stand for a cluster's own in deploy/kubernetes. */
const RANGES = {
  ipv4: ['10.244.0.0/16', '10.96.0.0/12', '10.0.0.0/8'],
  ipv6: ['2001:db8:1::/48', '2001:db8:2::/48', '2001:db8:3::/48'],
};

/** Without what only one of the two has: Helm's labels and annotations, and the release in peers. */
function bare(object: Manifest): Manifest {
  const { labels = {}, annotations: _, ...metadata } = object.metadata;
  const kept = Object.fromEntries(Object.entries(labels).filter(([key]) => key.startsWith('pod-security.')));
  const text = JSON.stringify({ ...object, metadata: { ...metadata, labels: kept } });
  return JSON.parse(
    text
      .replaceAll('"app.kubernetes.io/instance":"slipway",', '')
      .replaceAll(/,?"matchLabels":\{"app.kubernetes.io\/instance":"slipway"\}/g, ''),
  );
}
const nameOf = ({ kind, metadata }: Manifest): string => `${kind} ${metadata.name}`;
const sorted = (objects: readonly Manifest[]): Manifest[] =>
  objects.map(bare).sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));

describeUnless(missingForHelm())('what keeps sandboxes in', () => {
  let applied: Manifest[];
  let prepull: Manifest;
  beforeAll(() => {
    const listed = parseAllDocuments(readFileSync(path.join(SOURCE, 'kustomization.yaml'), 'utf8'))[0]!.toJS()
      .resources as string[];
    const read = (file: string): Manifest[] =>
      parseAllDocuments(readFileSync(path.join(SOURCE, file), 'utf8')).map((document) => document.toJS());
    applied = listed
      .flatMap(read)
      .filter(
        ({ kind, metadata }) => kind !== 'ServiceAccount' && !(kind === 'Namespace' && metadata.name === 'slipway'),
      );
    prepull = read('prepull.yaml')[0];
    expect(listed.length).toBe(globSync('{*,admission/*,network/*}.yaml', { cwd: SOURCE }).length - 2);
  });

  it('is in the chart what it is in deploy/kubernetes, object by object', async () => {
    const { objects } = await render([MINIMUM, { sandboxes: { network: { clusterRanges: RANGES } } }]);
    const account = 'slipway-runtime-api';
    const expected = JSON.parse(
      JSON.stringify(sorted(applied))
        .replaceAll("'system:serviceaccount:slipway:runtime-api'", `'system:serviceaccount:slipway:${account}'`)
        .replaceAll('{"kind":"ServiceAccount","name":"runtime-api"', `{"kind":"ServiceAccount","name":"${account}"`),
    ) as Manifest[];
    const names = new Set(expected.map(nameOf));
    const own = sorted(objects.filter((object) => names.has(nameOf(object))));
    expect(own.map(nameOf)).toEqual(expected.map(nameOf));
    for (const [index, object] of own.entries()) expect(object).toEqual(expected[index]);
  });

  it('outlives the release, as its namespace and the pods in it do: an uninstall takes away rights and nothing that confines', async () => {
    const { objects } = await render([MINIMUM, { sandboxes: { network: { clusterRanges: RANGES } } }]);
    const names = new Set(applied.map(nameOf));
    const confining = objects.filter(
      (object) => names.has(nameOf(object)) && !/^(Cluster)?Role(Binding)?$/.test(object.kind),
    );
    expect(new Set(confining.map(({ kind }) => kind))).toEqual(
      new Set([
        'Namespace',
        'LimitRange',
        'NetworkPolicy',
        'ValidatingAdmissionPolicy',
        'ValidatingAdmissionPolicyBinding',
      ]),
    );
    for (const object of confining)
      expect([nameOf(object), object.metadata.annotations]).toEqual([
        nameOf(object),
        { 'helm.sh/resource-policy': 'keep' },
      ]);
  });

  it('is the same prepull, with the image of each template', async () => {
    const { objects } = await render([MINIMUM]);
    const [one, ...more] = ofKind(objects, 'DaemonSet');
    expect(more).toEqual([]);
    const { image: _, imagePullPolicy: __, ...container } = one.spec.template.spec.containers[0];
    const { image: ___, ...expected } = prepull.spec.template.spec.containers[0];
    expect(container).toEqual({ ...expected, securityContext: { ...expected.securityContext, privileged: false } });
    expect({ ...one.spec.template.spec, containers: [] }).toEqual({ ...prepull.spec.template.spec, containers: [] });
    expect(one.spec.template.spec.containers[0].image).toBe(`slipway/sandbox@${DIGEST}`);
  });

  it('gives sandboxes no DNS of the world unless a value says so, and gives runtime-api the names that worker sends them', async () => {
    const environment = async (values: object[], component: string): Promise<Record<string, string>> => {
      const { objects } = await render([MINIMUM, ...(values as Manifest[])]);
      const deployment = ofKind(objects, 'Deployment').find(
        ({ metadata }) => metadata.labels['app.kubernetes.io/component'] === component,
      );
      return Object.fromEntries(
        deployment.spec.template.spec.containers[0].env.map(({ name, value }: Manifest) => [name, value]),
      );
    };
    const { SANDBOX_DNS, SANDBOX_HOSTS = '' } = await environment([], 'runtime-api');
    expect(SANDBOX_DNS).toBe('none');
    const { SANDBOX_INGEST_URL = '', SANDBOX_LLM_URL = '' } = await environment([], 'worker');
    expect(SANDBOX_HOSTS.split(',').sort()).toEqual(
      [SANDBOX_INGEST_URL, SANDBOX_LLM_URL].map((url) => new URL(url).hostname).sort(),
    );
    expect((await environment([{ sandboxes: { dns: 'cluster' } }], 'runtime-api'))['SANDBOX_DNS']).toBe('cluster');
    const { code, said } = await render([MINIMUM, { sandboxes: { dns: 'world' } }]);
    expect([code, said]).toEqual([1, expect.stringContaining('dns')]);
  });

  it('names nothing of another release: with other names, no object and no rule has those of the first', async () => {
    const { objects } = await render([MINIMUM, { sandboxes: { namespace: 'blue-pods' } }], {
      release: 'blue',
      namespace: 'team-blue',
    });
    const text = JSON.stringify(objects.filter(({ kind }) => kind !== 'Secret'));
    expect(text).not.toMatch(/(?<!blue-)slipway-sandboxes/);
    expect(text).not.toContain('system:serviceaccount:slipway:');
    expect(text).not.toContain('"kubernetes.io/metadata.name":"slipway"');
    expect(text).toContain('system:serviceaccount:team-blue:blue-slipway-runtime-api');
    const first = (await render([MINIMUM])).objects;
    const wide = (all: readonly Manifest[]): string[] =>
      all.filter(({ metadata }) => metadata.namespace === undefined).map(nameOf);
    expect(wide(objects).filter((name) => wide(first).includes(name))).toEqual([]);
  });

  it('lets into sandboxes whom a policy of the platform lets out to them', async () => {
    const { objects } = await render([MINIMUM]);
    const policies = ofKind(objects, 'NetworkPolicy');
    const ingress = policies.find(({ metadata }) => metadata.name === 'sandbox-ingress');
    const admitted = ingress.spec.ingress
      .flatMap((rule: Manifest) => rule.from)
      .flatMap(
        ({ podSelector }: Manifest) =>
          podSelector.matchExpressions?.[0].values ?? [podSelector.matchLabels['app.kubernetes.io/component']],
      );
    const sent = policies
      .filter(
        ({ metadata, spec }) =>
          metadata.namespace === 'slipway' &&
          JSON.stringify(spec.egress ?? []).includes('"kubernetes.io/metadata.name":"slipway-sandboxes"'),
      )
      .map(({ metadata }) => metadata.labels['app.kubernetes.io/component']);
    expect([...new Set(sent)].sort()).toEqual([...new Set(admitted)].sort());
  });
});
