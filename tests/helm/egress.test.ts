import { createPrivateKey, X509Certificate } from 'node:crypto';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, expect, it } from '@jest/globals';
import type { EgressClaims, EgressRules } from '@slipway/contracts/sandboxes';
import { missingForHelm } from '@slipway/testing/helm';
import { describeUnless } from '@slipway/testing/jest';
import {
  DIGEST,
  EVERYTHING,
  type Manifest,
  MINIMUM,
  OPEN_TEMPLATES,
  ofKind,
  PROXIED_TEMPLATES,
  ROOT,
  render,
  type Values,
} from './chart.ts';

interface HostRulesModule {
  readonly HostRules: new (
    rules: EgressRules,
    ports: readonly number[],
  ) => {
    problemOf(
      claims: EgressClaims,
      destination: { readonly host: string; readonly port: number },
    ): { readonly code: string } | null;
  };
}
const component = (objects: readonly Manifest[], kind: string, name: string): Manifest =>
  ofKind(objects, kind).find(({ metadata }) => metadata.labels?.['app.kubernetes.io/component'] === name);
const componentsOf = (peers: readonly Manifest[]): string[] =>
  peers.map(({ podSelector }) => podSelector.matchLabels['app.kubernetes.io/component']);
const environment = (deployment: Manifest): Record<string, { value?: string; valueFrom?: Manifest }> =>
  Object.fromEntries(deployment.spec.template.spec.containers[0].env.map((one: Manifest) => [one.name, one]));

describeUnless(missingForHelm())('the way out of sandboxes by name', () => {
  let objects: readonly Manifest[];
  beforeAll(async () => {
    const rendered = await render([MINIMUM, EVERYTHING]);
    expect([rendered.code, rendered.code === 0 ? '' : rendered.said]).toEqual([0, '']);
    objects = rendered.objects;
  });

  it('is there when a template needs it, and leaves nothing behind when none does', async () => {
    expect(component(objects, 'Deployment', 'egress-proxy').spec.template.spec.containers[0].ports).toEqual([
      { name: 'http', containerPort: 3007, protocol: 'TCP' },
      { name: 'metrics', containerPort: 9464, protocol: 'TCP' },
      { name: 'proxy', containerPort: 3128, protocol: 'TCP' },
    ]);
    const none = { sandboxes: { templates: OPEN_TEMPLATES } };
    const without = (await render([MINIMUM, none])).objects.filter(({ kind }) => kind !== 'Secret');
    expect(without.filter((object) => JSON.stringify(object).includes('broker'))).toEqual([]);
    // The policy of the sandboxes' namespace is of the class, and says who would be let in.
    expect(
      without.filter((object) => JSON.stringify(object).includes('egress-proxy')).map(({ metadata }) => metadata.name),
    ).toEqual(['sandbox-egress-proxy']);
    const { EGRESS_PROXY_URL, EGRESS_SECRET } = environment(component(without, 'Deployment', 'runtime-api'));
    expect([EGRESS_PROXY_URL, EGRESS_SECRET]).toEqual([undefined, undefined]);
    // The default is a list of git hosts, and what an organization allows.
    const least = (await render([MINIMUM])).objects;
    const { templates } = JSON.parse(
      ofKind(least, 'ConfigMap').find(({ metadata }) => metadata.name === 'slipway-egress-rules').data['rules.json'],
    );
    expect(templates).toEqual([
      { name: 'standard', egress: 'allow-list', allowedHosts: ['github.com', 'gitlab.com', 'bitbucket.org'] },
    ]);
    expect(component(least, 'Deployment', 'credential-broker')).toBeUndefined();
    // A template without a word on it has class packages.
    const { egress: _, ...silent } = PROXIED_TEMPLATES[0] as { egress: string };
    expect(
      component(
        (await render([MINIMUM, { sandboxes: { templates: [silent] } }])).objects,
        'Deployment',
        'egress-proxy',
      ),
    ).toBeDefined();
  });

  it('has one secret with runtime-api, which gives sandboxes an address that the Service answers on', () => {
    const proxy = environment(component(objects, 'Deployment', 'egress-proxy'));
    const runtime = environment(component(objects, 'Deployment', 'runtime-api'));
    expect(proxy['EGRESS_SECRET']?.valueFrom).toEqual(runtime['EGRESS_SECRET']?.valueFrom);
    const service = component(objects, 'Service', 'egress-proxy');
    const { hostname, port } = new URL(runtime['EGRESS_PROXY_URL']?.value ?? '');
    expect(hostname).toBe(`${service.metadata.name}.slipway.svc.cluster.local`);
    expect(service.spec.ports.find((one: Manifest) => one.name === 'proxy').port).toBe(Number(port));
    expect(runtime['EGRESS_NO_PROXY']?.value).toBe('.cluster.local,.example.org');
  });

  it('leads to credential-broker, whose key no other pod has, and whose authority sandboxes trust', async () => {
    const [proxy, broker, runtime, app] = ['egress-proxy', 'credential-broker', 'runtime-api', 'app-server'].map(
      (name) => environment(component(objects, 'Deployment', name)),
    );
    const { hostname, port } = new URL(proxy?.['BROKER_URL']?.value ?? '');
    const service = component(objects, 'Service', 'credential-broker');
    expect(hostname).toBe(`${service.metadata.name}.slipway.svc.cluster.local`);
    expect(service.spec.ports.find((one: Manifest) => one.name === 'broker').port).toBe(Number(port));
    expect(proxy?.['BROKER_SECRET']?.valueFrom).toEqual(broker?.['BROKER_SECRET']?.valueFrom);
    expect(app?.['CREDENTIAL_CONTROL_SECRET']?.valueFrom).toEqual(broker?.['CREDENTIAL_CONTROL_SECRET']?.valueFrom);
    expect(broker?.['CREDENTIAL_CONTROL_URL']?.value).toMatch(/app-server\S*:3008$/);
    expect(runtime?.['EGRESS_CA_FILE']?.value).toBe('/etc/slipway/egress-ca/ca.crt');
    // Of P-256, and the certificate is the key's.
    const { data } = ofKind(objects, 'Secret').find(({ metadata }) => metadata.name === 'acme-broker-ca');
    const [certificate, key, trusted] = ['tls.crt', 'tls.key', 'ca.crt'].map((name) =>
      Buffer.from(data[name], 'base64').toString(),
    ) as [string, string, string];
    const authority = new X509Certificate(certificate);
    expect([authority.ca, authority.checkPrivateKey(createPrivateKey(key)), trusted]).toEqual([
      true,
      true,
      certificate,
    ]);
    expect(createPrivateKey(key).asymmetricKeyDetails?.namedCurve).toBe('prime256v1');
    expect(Date.parse(authority.validTo) - Date.now()).toBeGreaterThan(1_800 * 86_400_000);
    const mounted = ofKind(objects, 'Deployment').flatMap(({ metadata, spec }) =>
      spec.template.spec.volumes.flatMap(({ secret }: Manifest) =>
        secret === undefined
          ? []
          : [[metadata.name, secret.secretName, secret.items.map((item: Manifest) => item.key)] as const],
      ),
    );
    expect(mounted.sort()).toEqual([
      ['acme-credential-broker', 'acme-broker-ca', ['tls.crt', 'tls.key']],
      ['acme-runtime-api', 'acme-broker-ca', ['ca.crt']],
    ]);
    // In by egress-proxy, the helm test and Prometheus; out to app-server and public addresses.
    const { ingress, egress } = component(objects, 'NetworkPolicy', 'credential-broker').spec;
    expect(
      ingress.flatMap(({ from, ports }: Manifest) =>
        from[0].podSelector === undefined ? [] : [[componentsOf(from), ports[0].port]],
      ),
    ).toEqual([
      [['helm-test'], 3010],
      [['egress-proxy'], 3011],
    ]);
    expect(egress.slice(1).map(({ ports }: Manifest) => ports.map((one: Manifest) => one.port))).toEqual([
      [3008],
      [80, 443, 8443],
    ]);
    const named = { credentialBroker: { ca: { existingSecret: 'authority', keys: { privateKey: 'key.pem' } } } };
    const theirs = (await render([MINIMUM, EVERYTHING, named])).objects;
    expect(ofKind(theirs, 'Secret').map(({ metadata }) => metadata.name)).not.toContain('acme-broker-ca');
    expect(JSON.stringify(component(theirs, 'Deployment', 'credential-broker'))).toContain(
      '"secretName":"authority","items":[{"key":"tls.crt","path":"tls.crt"},{"key":"key.pem","path":"tls.key"}]',
    );
  });

  it('gets the hosts of the values, which it takes, and is rolled out when they change', async () => {
    const { HostRules } = (await import(
      pathToFileURL(path.join(ROOT, 'apps/egress-proxy/dist/admission/host-rules.js')).href
    )) as HostRulesModule;
    const map = ofKind(objects, 'ConfigMap').find(({ metadata }) => metadata.name === 'acme-egress-rules');
    const rules = new HostRules(JSON.parse(map.data['rules.json']) as EgressRules, [443]);
    const claims: EgressClaims = {
      claim: 'c',
      org: 'o',
      template: 'narrow',
      egress: 'allow-list',
      address: '10.0.0.1',
      exp: 1,
    };
    expect(rules.problemOf(claims, { host: 'api.example.com', port: 443 })).toBeNull();
    expect(rules.problemOf(claims, { host: 'a.files.example.com', port: 8443 })).toBeNull();
    expect(rules.problemOf(claims, { host: 'git.example.com', port: 443 })).toBeNull();
    expect(rules.problemOf(claims, { host: 'mirror.example.com', port: 443 })?.code).toBe('egress.refused');
    expect(
      rules.problemOf(
        { ...claims, template: 'standard', egress: 'packages' },
        { host: 'mirror.example.com', port: 443 },
      ),
    ).toBeNull();
    const changed = (await render([MINIMUM, EVERYTHING, { egress: { packageHosts: ['other.example.com'] } }])).objects;
    const checksum = (all: readonly Manifest[]): string =>
      component(all, 'Deployment', 'egress-proxy').spec.template.metadata.annotations['checksum/rules'];
    expect(checksum(changed)).not.toBe(checksum(objects));
  });

  it('is reached by sandboxes of the two classes on the port of the proxy alone, and reaches the internet, what is permitted, and of the platform what decides', async () => {
    const { spec } = component(objects, 'NetworkPolicy', 'egress-proxy');
    const fromSandboxes = spec.ingress.filter((rule: Manifest) =>
      JSON.stringify(rule.from).includes('"kubernetes.io/metadata.name":"slipway-sandboxes"'),
    );
    expect(fromSandboxes.map((rule: Manifest) => [rule.from[0].podSelector.matchExpressions, rule.ports])).toEqual([
      [
        [{ key: 'slipway.dev/egress', operator: 'In', values: ['packages', 'allow-list'] }],
        [{ protocol: 'TCP', port: 3128 }],
      ],
    ]);
    const sandboxPolicy = ofKind(objects, 'NetworkPolicy').find(
      ({ metadata }) => metadata.name === 'sandbox-egress-proxy',
    );
    expect(sandboxPolicy.spec.egress[0].ports).toEqual([{ protocol: 'TCP', port: 3128 }]);
    const [dns, broker, control, internet, ...more] = spec.egress;
    expect([dns.ports.map((one: Manifest) => one.port), more]).toEqual([[53, 53], []]);
    expect([broker.to[0].podSelector.matchLabels['app.kubernetes.io/component'], broker.ports]).toEqual([
      'credential-broker',
      [{ protocol: 'TCP', port: 3011 }],
    ]);
    // What it asks, and who else reaches that port: credential-broker.
    expect([control.to[0].podSelector.matchLabels['app.kubernetes.io/component'], control.ports]).toEqual([
      'app-server',
      [{ protocol: 'TCP', port: 3008 }],
    ]);
    const asked = component(objects, 'NetworkPolicy', 'app-server').spec.ingress.filter((rule: Manifest) =>
      JSON.stringify(rule.ports).includes('3008'),
    );
    expect(asked.map(({ from }: Manifest) => componentsOf(from))).toEqual([['egress-proxy', 'credential-broker']]);
    const [proxy, app] = ['egress-proxy', 'app-server'].map((name) =>
      environment(component(objects, 'Deployment', name)),
    );
    expect(proxy?.['EGRESS_CONTROL_SECRET']?.valueFrom).toEqual(app?.['EGRESS_CONTROL_SECRET']?.valueFrom);
    expect(proxy?.['EGRESS_CONTROL_URL']?.value).toMatch(/app-server\S*:3008$/);
    expect(internet.ports.map((one: Manifest) => one.port)).toEqual([80, 443, 8443]);
    const blocks = (rule: Manifest): Manifest[] =>
      rule.to.map(({ ipBlock }: Manifest) => ({ cidr: ipBlock.cidr, except: [...(ipBlock.except ?? [])].sort() }));
    const open = ofKind(objects, 'NetworkPolicy').find(({ metadata }) => metadata.name === 'sandbox-egress-open');
    expect(blocks(internet)).toEqual([...blocks(open.spec.egress[0]), { cidr: '192.168.7.0/24', except: [] }]);
    const ranges = { sandboxes: { network: { clusterRanges: { ipv4: ['20.30.0.0/16'], ipv6: ['2001:db8:1::/48'] } } } };
    const own = (await render([MINIMUM, EVERYTHING, ranges])).objects;
    const excepted = component(own, 'NetworkPolicy', 'egress-proxy').spec.egress[3].to.map(
      ({ ipBlock }: Manifest) => ipBlock.except?.[0],
    );
    expect(excepted).toEqual(['20.30.0.0/16', '2001:db8:1::/48', undefined]);
    expect(environment(component(own, 'Deployment', 'egress-proxy'))['EGRESS_CLUSTER_RANGES']?.value).toBe(
      '20.30.0.0/16,2001:db8:1::/48',
    );
  });

  it('is refused in words when hosts belong to another class, a host is none, or a broker has nobody to serve', async () => {
    const [, narrow] = PROXIED_TEMPLATES as readonly [unknown, Record<string, unknown>];
    const said = async (template: object, values: Values = {}): Promise<string> => {
      const { code, said } = await render([
        MINIMUM,
        { sandboxes: { image: { digest: DIGEST }, templates: [template] } },
        values,
      ]);
      expect(code).not.toBe(0);
      return said;
    };
    // What an empty list leaves is for organizations to allow.
    const empty = { sandboxes: { templates: [{ ...narrow, allowedHosts: [] }] } };
    expect((await render([MINIMUM, empty])).code).toBe(0);
    expect(await said(OPEN_TEMPLATES[0] ?? {}, { credentialBroker: { enabled: true } })).toContain(
      'credentialBroker.enabled: no template has egress packages or allow-list',
    );
    expect(await said({ ...narrow, egress: 'open' })).toContain(
      'narrow has allowedHosts, which are for egress allow-list, and egress open',
    );
    expect(await said({ ...narrow, allowedHosts: ['https://example.com'] })).toContain('allowedHosts');
    expect(await said(narrow, { egress: { packageHosts: ['*'] } })).toContain('packageHosts');
  });
});
