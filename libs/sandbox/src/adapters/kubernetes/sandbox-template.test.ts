import { describe, expect, it } from '@jest/globals';
import { sandboxPod, templateHash } from './sandbox-pod.js';
import { readTemplates, type SandboxTemplate, templateFor } from './sandbox-template.js';

const digest = `registry.example/sandbox@sha256:${'a'.repeat(64)}`;
const resources = {
  requests: { cpu: '250m', memory: '512Mi', ephemeralStorage: '1Gi' },
  limits: { cpu: '1.5', memory: '1.5Gi', ephemeralStorage: '8Gi' },
};
const raw = { name: 'python', image: digest, resources, sizes: [1, 2, 4, 8] };
const settings = {
  namespace: 'sandboxes',
  activationPublicKey: 'PUBLIC',
  logLevel: 'info',
  names: { dns: 'cluster', hosts: [] },
} as const;
const read = (change: object = {}): SandboxTemplate =>
  [...readTemplates([{ ...raw, ...change }], 'production').values()][0] as SandboxTemplate;
const identity = { name: 'sb-slot', slotId: 'slot', token: 'secret' };

describe('a sandbox template', () => {
  for (const [what, change, path, words] of [
    ['a tag in production', { image: 'registry.example/sandbox:latest' }, '0.image', 'has no digest'],
    ['a reserved label', { labels: { 'slipway.dev/claim': 'mine' } }, '0.labels.slipway.dev/claim', 'is reserved'],
    [
      "a label of the application's own",
      { labels: { 'app.kubernetes.io/name': 'x' } },
      '0.labels.app.kubernetes.io/name',
      'is reserved',
    ],
    ['a size that is no factor', { sizes: [3] }, '0.sizes.0', ''],
    [
      'an amount that is none',
      { resources: { ...resources, limits: { ...resources.limits, memory: 'lots' } } },
      '0.resources.limits.memory',
      'is no amount of bytes',
    ],
    [
      'a request above its limit',
      { resources: { ...resources, requests: { ...resources.requests, cpu: '2' } } },
      '0.resources.requests.cpu',
      'is more than the limit of 1.5',
    ],
    ['an egress class that is none', { egress: 'everything' }, '0.egress', ''],
    ['an allow-list of nothing', { egress: 'allow-list' }, '0.allowedHosts', 'needs at least one host'],
    [
      'hosts for a class that has none',
      { egress: 'open', allowedHosts: ['example.com'] },
      '0.allowedHosts',
      'is for egress: allow-list',
    ],
    [
      'a host that is an address of a page',
      { egress: 'allow-list', allowedHosts: ['ok.example.com', 'https://example.com/x'] },
      '0.allowedHosts.1',
      'is no host',
    ],
    ['a toleration of everything', { tolerations: [{ operator: 'Exists' }] }, '0.tolerations.0.key', ''],
    [
      "a toleration of the control plane's taint",
      { tolerations: [{ key: 'node-role.kubernetes.io/control-plane' }] },
      '0.tolerations.0.key',
      'control plane',
    ],
    ["a system's priority", { priorityClassName: 'system-node-critical' }, '0.priorityClassName', 'system pods'],
    ['a field that there is not', { privileged: true }, '0', 'privileged'],
    ['a name that is no label', { name: 'Über' }, '0.name', 'is no name'],
  ] as const)
    it(`is refused with ${what}, by the name of the field`, () => {
      expect(() => read(change)).toThrow(
        expect.objectContaining({
          code: 'config.invalid',
          more: { fields: [{ path, message: expect.stringContaining(words) }] },
        }),
      );
    });

  it('may have a tag where no other is affected, and a name once', () => {
    expect(readTemplates([{ ...raw, image: 'sandbox:dev' }], 'development').get('python')?.image).toBe('sandbox:dev');
    expect(() => readTemplates([raw, raw], 'production')).toThrow('is used twice');
  });

  it('is found by name and size', () => {
    const templates = readTemplates([{ ...raw, sizes: [1, 4] }], 'production');
    expect(templateFor(templates, 'python', 4).name).toBe('python');
    expect(() => templateFor(templates, 'ruby', 1)).toThrow('there are: python');
    expect(() => templateFor(templates, 'python', 8)).toThrow('it has: 1, 4');
  });
});

describe('the pod of a template', () => {
  it('has the amounts of the template times its size for the commands, and the same for agent-server at every size', () => {
    for (const [size, cpu, memory, storage] of [
      [1, '250m', '1.5Gi', '8Gi'],
      [8, '2000m', '12Gi', '64Gi'],
    ] as const) {
      const pod = sandboxPod({ template: read(), size, identity, settings, hash: 'hash' });
      const tools = pod.spec?.initContainers?.[0]?.resources;
      expect([tools?.requests?.['cpu'], tools?.limits?.['memory'], tools?.limits?.['ephemeral-storage']]).toEqual([
        cpu,
        memory,
        storage,
      ]);
      expect(pod.spec?.containers[0]?.resources?.limits?.['memory']).toBe('512Mi');
      expect(pod.metadata?.labels?.['slipway.dev/size']).toBe(String(size));
      expect(pod.spec?.volumes?.find(({ name }) => name === 'workspace')?.emptyDir?.sizeLimit).toBe(storage);
    }
  });

  it('carries what the template asks for', () => {
    const requested = {
      runtimeClassName: 'gvisor',
      nodeSelector: { pool: 'sandboxes' },
      tolerations: [{ key: 'sandboxes', operator: 'Exists' }],
      labels: { team: 'blue' },
      egress: 'open',
      userNamespaces: true,
      imagePullSecrets: ['registry'],
      imagePullPolicy: 'Always',
      priorityClassName: 'batch',
    };
    const { metadata, spec } = sandboxPod({ template: read(requested), size: 2, identity, settings, hash: 'hash' });
    expect(spec).toMatchObject({
      runtimeClassName: 'gvisor',
      nodeSelector: { pool: 'sandboxes' },
      hostUsers: false,
      imagePullSecrets: [{ name: 'registry' }],
      priorityClassName: 'batch',
      containers: [{ imagePullPolicy: 'Always', image: digest }],
    });
    expect(spec?.tolerations?.[0]).toEqual({ key: 'sandboxes', operator: 'Exists' });
    expect(metadata?.labels).toMatchObject({
      team: 'blue',
      'slipway.dev/egress': 'open',
      'slipway.dev/template': 'python',
    });
  });

  it('shares with its tool process only the token between them', () => {
    const pod = sandboxPod({ template: read(), size: 1, identity, settings, hash: 'hash' });
    const names = pod.spec?.initContainers?.[0]?.env?.map(({ name }) => name);
    expect(names?.sort()).toEqual([
      'ACTION_SERVER_TOKEN',
      'ARCHIVE_MAX_BYTES',
      'HOME',
      'HOME_DIR',
      'HOST',
      'LOG_LEVEL',
      'PORT',
      'STATE_DIR',
      'WORKSPACE_DIR',
    ]);
    expect(pod.spec?.initContainers?.[0]?.env).toContainEqual({ name: 'HOST', value: '127.0.0.1' });
  });

  for (const egress of ['none', 'packages', 'allow-list'] as const)
    it(`of class ${egress} asks a resolver that refuses at once, knows the platform by its addresses, and says so to the network policies`, () => {
      const hosts = [
        { name: 'app-server.slipway.svc.cluster.local', address: '10.96.3.4' },
        { name: 'proxy.slipway.svc.cluster.local', address: 'fd00::5' },
      ];
      const template = read(egress === 'allow-list' ? { egress, allowedHosts: ['example.com'] } : { egress });
      const { metadata, spec } = sandboxPod({
        template,
        size: 1,
        identity,
        settings: { ...settings, names: { dns: 'none', hosts } },
        hash: 'hash',
      });
      expect(spec).toMatchObject({
        dnsPolicy: 'None',
        dnsConfig: { nameservers: ['127.0.0.1'] },
        hostAliases: [
          { ip: '10.96.3.4', hostnames: ['app-server.slipway.svc.cluster.local'] },
          { ip: 'fd00::5', hostnames: ['proxy.slipway.svc.cluster.local'] },
        ],
      });
      expect(metadata?.labels?.['slipway.dev/dns']).toBe('none');
    });

  it("asks the cluster's DNS in class open, which needs the names of the world, and in every class where an operator says so", () => {
    for (const [change, dns] of [
      [{ egress: 'open' }, 'none'],
      [{ egress: 'none' }, 'cluster'],
    ] as const) {
      const { metadata, spec } = sandboxPod({
        template: read(change),
        size: 1,
        identity,
        settings: { ...settings, names: { dns, hosts: [] } },
        hash: 'hash',
      });
      expect([spec?.dnsPolicy, spec?.dnsConfig, spec?.hostAliases, metadata?.labels?.['slipway.dev/dns']]).toEqual([
        undefined,
        undefined,
        undefined,
        undefined,
      ]);
    }
  });

  it('has a hash that changes with the address of a service, so that no blank sandbox outlives it', () => {
    const at = (address: string): string =>
      templateHash(read(), 1, { ...settings, names: { dns: 'none', hosts: [{ name: 'app-server', address }] } });
    expect(at('10.96.0.7')).toBe(at('10.96.0.7'));
    expect(at('10.96.0.8')).not.toBe(at('10.96.0.7'));
  });

  it('has a hash that changes with the template, the size and the activation key, and with nothing else', () => {
    const hash = templateHash(read(), 1, settings);
    expect(templateHash(read(), 1, { ...settings })).toBe(hash);
    for (const other of [
      templateHash(read({ image: digest.replace('aa', 'ab') }), 1, settings),
      templateHash(read(), 2, settings),
      templateHash(read(), 1, { ...settings, activationPublicKey: 'OTHER' }),
      templateHash(read({ egress: 'none' }), 1, settings),
    ])
      expect(other).not.toBe(hash);
  });
});
