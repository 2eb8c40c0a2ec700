import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from '@jest/globals';
import { missingForHelm } from '@slipway/testing/helm';
import { describeUnless } from '@slipway/testing/jest';
import { parse, parseAllDocuments } from 'yaml';
import { type Manifest, MINIMUM, ofKind, ROOT, render, type Values } from './chart.ts';

/** The blocks of YAML in docs/operate that stand below `<!-- tested: NAME -->`. */
function documented(): Map<string, Values> {
  const blocks = new Map<string, Values>();
  for (const file of globSync('docs/operate/*.md', { cwd: ROOT }).sort())
    for (const [, name = '', yaml = ''] of readFileSync(path.join(ROOT, file), 'utf8').matchAll(
      /<!-- tested: ([\w-]+) -->\n```yaml\n([\s\S]*?)```/g,
    ))
      blocks.set(name, parse(yaml) as Values);
  return blocks;
}

/** What an example is for, by its name. */
const MAKES: Readonly<Record<string, (objects: readonly Manifest[]) => void>> = {
  gateway: (objects) => {
    expect(ofKind(objects, 'HTTPRoute').map(({ spec }) => spec.hostnames[0])).toEqual([
      'slipway.example.com',
      'sandboxes.example.com',
    ]);
    const ingress = ofKind(objects, 'NetworkPolicy').find(({ metadata }) => metadata.name === 'slipway-app-server').spec
      .ingress;
    expect(JSON.stringify(ingress)).toContain('"kubernetes.io/metadata.name":"gateways"');
  },
  'cert-manager': (objects) => {
    const [app, sandboxes] = ofKind(objects, 'Ingress');
    expect([app.metadata.annotations, app.spec.tls[0].secretName]).toEqual([
      { 'cert-manager.io/cluster-issuer': 'letsencrypt' },
      'slipway-tls',
    ]);
    expect(sandboxes.spec.tls[0].hosts).toEqual(['sandboxes.example.com', '*.sandboxes.example.com']);
  },
  'external-secrets': (objects) => {
    expect(ofKind(objects, 'ExternalSecret').map(({ spec }) => spec.target.name)).toEqual(['slipway-own']);
    // The chart makes none of its own then.
    expect(ofKind(objects, 'Secret')).toEqual([]);
  },
  reloader: (objects) => {
    for (const { metadata } of ofKind(objects, 'Deployment'))
      expect(metadata.annotations).toEqual({ 'reloader.stakater.com/auto': 'true' });
  },
  openshift: (objects) => {
    expect(ofKind(objects, 'DaemonSet')).toEqual([]);
    for (const { spec } of ofKind(objects, 'Deployment'))
      expect(Object.keys(spec.template.spec.securityContext)).not.toContain('runAsUser');
  },
  pooler: (objects) => {
    const ports = JSON.stringify(
      ofKind(objects, 'NetworkPolicy').find(({ metadata }) => metadata.name === 'slipway-worker').spec.egress,
    );
    expect(ports).toContain('6432');
  },
  queue: (objects) => {
    expect(ofKind(objects, 'HorizontalPodAutoscaler')[0].spec.metrics[1].external.metric.name).toBe(
      'slipway_outbox_jobs',
    );
  },
};

describeUnless(missingForHelm())('an example of values in docs/operate', () => {
  const blocks = documented();

  it('has a check of what it makes, each of them', () => {
    expect([...blocks.keys()].sort()).toEqual(Object.keys(MAKES).sort());
  });

  for (const [name, values] of blocks)
    it(`is one that the chart takes, and does what the page says: ${name}`, async () => {
      const { code, said, objects } = await render([MINIMUM, values]);
      expect([code, code === 0 ? '' : said]).toEqual([0, '']);
      MAKES[name]?.(objects);
    });

  it('of labels names those of the namespace that the chart makes', () => {
    const page = readFileSync(path.join(ROOT, 'docs/kubernetes.md'), 'utf8');
    const [, yaml = ''] = /<!-- tested: labels -->\n```yaml\n([\s\S]*?)```/.exec(page) ?? [];
    const manifests = parseAllDocuments(readFileSync(path.join(ROOT, 'deploy/kubernetes/namespaces.yaml'), 'utf8')).map(
      (one) => one.toJS() as Manifest,
    );
    expect(parse(yaml)).toEqual(
      manifests.find(({ metadata }) => metadata.name === 'slipway-sandboxes').metadata.labels,
    );
  });
});
