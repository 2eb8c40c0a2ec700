import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { missingForTestCluster } from '@slipway/testing/cluster';
import { describeUnless } from '@slipway/testing/jest';
import { RUNTIME_API, SANDBOXES } from './contract-pod.ts';
import type { KubeApi } from './kube-api.ts';
import { openPlatformCluster, type PlatformCluster } from './platform-cluster.ts';

/** Of a service account without bindings: what the cluster grants to all. */
const BYSTANDER = 'system:serviceaccount:slipway:nobody-knows-me';
const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];
/** Verbs that mean something to few resources only, with those. */
const SPECIAL: readonly Attributes[] = [
  { verb: 'impersonate', group: '', resource: 'users' },
  { verb: 'impersonate', group: '', resource: 'groups' },
  { verb: 'impersonate', group: '', resource: 'serviceaccounts' },
  { verb: 'bind', group: 'rbac.authorization.k8s.io', resource: 'roles' },
  { verb: 'bind', group: 'rbac.authorization.k8s.io', resource: 'clusterroles' },
  { verb: 'escalate', group: 'rbac.authorization.k8s.io', resource: 'roles' },
  { verb: 'escalate', group: 'rbac.authorization.k8s.io', resource: 'clusterroles' },
  { verb: 'approve', group: 'certificates.k8s.io', resource: 'signers' },
  { verb: 'sign', group: 'certificates.k8s.io', resource: 'signers' },
  { verb: '*', group: '*', resource: '*' },
];
const MAY_WITH_PODS = ['get', 'list', 'watch', 'create', 'patch', 'delete'];
const MAY_WITH_NODES = ['get', 'list', 'watch'];

interface Attributes {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  /** None of a cluster-scoped resource; for a namespaced one none means all of them. */
  readonly namespace?: string;
}
interface ResourceRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
}
interface Rules {
  readonly resourceRules: readonly ResourceRule[];
  readonly nonResourceRules: readonly unknown[];
  readonly incomplete: boolean;
}
interface Resources {
  readonly resources: readonly { readonly name: string; readonly namespaced: boolean }[];
}

const missing = await missingForTestCluster();

jest.setTimeout(180_000);

describeUnless(missing)('runtime-api', () => {
  let platform: PlatformCluster;
  let api: KubeApi;
  let namespaces: readonly string[];

  beforeAll(async () => {
    platform = await openPlatformCluster({ realNode: false });
    api = platform.api;
    const { body } = await api.ask<{ items: { metadata: { name: string } }[] }>('/api/v1/namespaces');
    namespaces = body.items.map(({ metadata }) => metadata.name);
  });
  afterAll(() => platform?.close());

  async function rulesOf(as: string, namespace: string): Promise<Rules> {
    const path = '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews';
    return (await api.ask<{ status: Rules }>(path, { method: 'POST', as, body: { spec: { namespace } } })).body.status;
  }
  async function may(as: string, attributes: Attributes): Promise<boolean> {
    const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
    const { status, body } = await api.ask<{ status: { allowed: boolean } }>(path, {
      method: 'POST',
      as,
      body: { spec: { resourceAttributes: attributes } },
    });
    expect(status).toBe(201);
    return body.status.allowed;
  }
  /** Every resource and subresource that the cluster serves, of whatever group and version. */
  async function served(): Promise<
    { readonly group: string; readonly resource: string; readonly subresource: string; readonly namespaced: boolean }[]
  > {
    const { body } = await api.ask<{ groups: { name: string; versions: { groupVersion: string }[] }[] }>('/apis');
    const versions = [
      { group: '', path: '/api/v1' },
      ...body.groups.flatMap(({ name, versions }) =>
        versions.map(({ groupVersion }) => ({ group: name, path: `/apis/${groupVersion}` })),
      ),
    ];
    const lists = await Promise.all(
      versions.map(async ({ group, path }) => ({ group, list: (await api.ask<Resources>(path)).body.resources })),
    );
    const all = lists.flatMap(({ group, list }) =>
      list.map(({ name, namespaced }) => {
        const [resource = '', subresource = ''] = name.split('/');
        return { group, resource, subresource, namespaced };
      }),
    );
    return [...new Map(all.map((one) => [`${one.group}/${one.resource}/${one.subresource}`, one])).values()];
  }

  it('has in every namespace the rules of its Role and of all accounts, and no other', async () => {
    expect(namespaces).toEqual(expect.arrayContaining([SANDBOXES, 'slipway', 'kube-system', 'default']));
    for (const namespace of namespaces) {
      const [own, everybodys] = await Promise.all([rulesOf(RUNTIME_API, namespace), rulesOf(BYSTANDER, namespace)]);
      expect([own.incomplete, everybodys.incomplete]).toEqual([false, false]);
      const granted = own.resourceRules.filter(
        (rule) => !everybodys.resourceRules.some((other) => JSON.stringify(other) === JSON.stringify(rule)),
      );
      const nodes = { verbs: MAY_WITH_NODES, apiGroups: [''], resources: ['nodes'] };
      const pods = { verbs: MAY_WITH_PODS, apiGroups: [''], resources: ['pods'] };
      expect([namespace, [...granted].sort((a, b) => a.verbs.length - b.verbs.length)]).toEqual([
        namespace,
        namespace === SANDBOXES ? [nodes, pods] : [nodes],
      ]);
      expect(sorted(own.nonResourceRules)).toEqual(sorted(everybodys.nonResourceRules));
    }
  });

  it('is answered yes to these nine questions and to no other, over every verb, resource, subresource and namespace', async () => {
    const resources = await served();
    expect(resources.length).toBeGreaterThan(100);
    const places = (namespaced: boolean): readonly (string | undefined)[] =>
      namespaced ? [SANDBOXES, 'slipway', 'kube-system', undefined] : [undefined];
    const questions: Attributes[] = [
      ...resources.flatMap(({ group, resource, subresource, namespaced }) =>
        places(namespaced).flatMap((namespace) =>
          VERBS.map((verb) => ({
            verb,
            group,
            resource,
            ...(subresource === '' ? {} : { subresource }),
            ...(namespace === undefined ? {} : { namespace }),
          })),
        ),
      ),
      ...SPECIAL,
    ];
    const yes: string[] = [];
    const rest = questions.values();
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        for (const question of rest)
          if ((await may(RUNTIME_API, question)) && !(await may(BYSTANDER, question))) yes.push(nameOf(question));
      }),
    );
    const own = [
      ...MAY_WITH_PODS.map((verb) => nameOf({ verb, group: '', resource: 'pods', namespace: SANDBOXES })),
      ...MAY_WITH_NODES.map((verb) => nameOf({ verb, group: '', resource: 'nodes' })),
    ];
    expect(yes.sort()).toEqual(own.sort());
  });

  it('shares with all accounts nothing but asking about itself', async () => {
    for (const namespace of namespaces) {
      const { resourceRules } = await rulesOf(BYSTANDER, namespace);
      expect(
        resourceRules
          .flatMap(({ resources = [] }) => resources)
          .filter((resource) => !resource.startsWith('selfsubject')),
      ).toEqual([]);
    }
  });
});

const sorted = (rules: readonly unknown[]): string[] => rules.map((rule) => JSON.stringify(rule)).sort();

function nameOf({ verb, group, resource, subresource, namespace }: Attributes): string {
  return `${verb} ${group}/${resource}${subresource === undefined ? '' : `/${subresource}`} ${namespace ?? 'everywhere'}`;
}
