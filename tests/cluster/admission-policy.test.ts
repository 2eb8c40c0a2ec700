import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { until } from '@slipway/testing';
import { missingForTestCluster } from '@slipway/testing/cluster';
import { describeUnless } from '@slipway/testing/jest';
import { CHANGES, HANDS_OFF, NOTES } from './change-cases.ts';
import { contractPod, type PodBody, RUNTIME_API, SANDBOXES } from './contract-pod.ts';
import { ALLOWED_KINDS, REFUSED_KINDS } from './kind-cases.ts';
import { type Answer, type KubeApi } from './kube-api.ts';
import { newSlot, openPlatformCluster, type PlatformCluster, podsOf } from './platform-cluster.ts';
import { MUTATIONS } from './pod-mutations.ts';

interface Policy {
  readonly metadata: { readonly name: string; readonly generation: number };
  readonly spec: { readonly failurePolicy: string; readonly validations: readonly { readonly message: string }[] };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly typeChecking?: { readonly expressionWarnings?: readonly unknown[] };
  };
}
const POLICIES = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
const BINDINGS = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings';
/** Two more namespaces, each with one half of what the sandboxes' has: what they refuse shows which half did. */
const POLICY_ONLY = 'slipway-test-policy-only';
const POD_SECURITY_ONLY = 'slipway-test-pod-security-only';

const missing = await missingForTestCluster();

jest.setTimeout(180_000);

describeUnless(missing)('the sandbox namespace', () => {
  let platform: PlatformCluster;
  let api: KubeApi;
  let policies: readonly Policy[];

  beforeAll(async () => {
    platform = await openPlatformCluster({ realNode: false });
    api = platform.api;
    policies = (await api.ask<{ items: Policy[] }>(`${POLICIES}?labelSelector=app.kubernetes.io/part-of=slipway`)).body
      .items;
    await makeHalves();
  });
  afterAll(async () => {
    for (const path of [
      `${BINDINGS}/${POLICY_ONLY}`,
      `/api/v1/namespaces/${POLICY_ONLY}`,
      `/api/v1/namespaces/${POD_SECURITY_ONLY}`,
    ])
      await api?.ask(path, { method: 'DELETE' });
    await platform?.close();
  });

  async function makeHalves(): Promise<void> {
    const enforced = await api.ask<{ metadata: { labels: Record<string, string> } }>(`/api/v1/namespaces/${SANDBOXES}`);
    const podSecurity = Object.fromEntries(
      Object.entries(enforced.body.metadata.labels).filter(([key]) => key.startsWith('pod-security.')),
    );
    expect(podSecurity['pod-security.kubernetes.io/enforce']).toBe('restricted');
    const post = async (path: string, body: unknown): Promise<void> => {
      const { status, body: said } = await api.ask(path, { method: 'POST', body });
      if (status !== 201 && status !== 409) throw new Error(`${path}: ${said.message}`);
    };
    await post('/api/v1/namespaces', { metadata: { name: POLICY_ONLY } });
    await post('/api/v1/namespaces', { metadata: { name: POD_SECURITY_ONLY, labels: podSecurity } });
    for (const name of [POLICY_ONLY, POD_SECURITY_ONLY])
      for (const account of ['default', 'builder'])
        await post(`/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: account } });
    const matchResources = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': POLICY_ONLY } } };
    await post(BINDINGS, {
      metadata: { name: POLICY_ONLY },
      spec: { policyName: 'slipway-sandbox-pod', validationActions: ['Deny'], matchResources },
    });
    await until(
      'the policy is in force there',
      async () => (await create(contractPod(newSlot(), { namespace: POLICY_ONLY }), 'somebody')).status !== 201,
    );
  }

  /** As that user with all rights, so that admission alone decides. */
  function create(body: PodBody, as = RUNTIME_API, groups: readonly string[] = ['system:masters']): Promise<Answer> {
    return api.ask(podsOf(body.metadata.namespace), { method: 'POST', dryRun: true, as, groups, body });
  }
  async function expectRefused(asked: Promise<Answer>, words: string): Promise<void> {
    const { status, body } = await asked;
    expect({ status, message: body.message }).toEqual({
      status: expect.any(Number),
      message: expect.stringContaining(words),
    });
    expect([403, 422]).toContain(status);
  }
  const messagesOf = (name: string): readonly string[] =>
    policies.find(({ metadata }) => metadata.name === name)!.spec.validations.map(({ message }) => message);

  describe('admits', () => {
    for (const egress of ['none', 'packages', 'allow-list', 'open'] as const)
      it(`the pod of the contract with egress ${egress}, from runtime-api with its own rights`, async () => {
        const { status, body } = await api.ask(podsOf(SANDBOXES), {
          method: 'POST',
          dryRun: true,
          as: RUNTIME_API,
          body: contractPod(newSlot(), { egress }),
        });
        expect([status, body.message]).toEqual([201, undefined]);
      });

    it('a pod with what a template may say: runtime class, node selector, tolerations by key, labels, pull secrets, no user namespace', async () => {
      const pod = contractPod(newSlot());
      pod.metadata.labels['team'] = 'blue';
      pod.metadata.labels['slipway.dev/size'] = '8';
      Object.assign(pod.spec, {
        nodeSelector: { pool: 'sandboxes' },
        imagePullSecrets: [{ name: 'registry' }],
        hostUsers: undefined,
      });
      pod.spec['tolerations'].push({ key: 'sandboxes', operator: 'Exists', effect: 'NoSchedule' });
      expect((await create(pod)).body.message).toBeUndefined();
    });
  });

  describe('refuses a pod', () => {
    for (const { name, says, change, podSecurity } of MUTATIONS)
      it(`${name}, and says what to change${podSecurity ? '; Pod Security alone refuses it too' : ''}`, async () => {
        const broken = (namespace: string): PodBody => {
          const pod = contractPod(newSlot(), { namespace });
          change(pod);
          return pod;
        };
        await expectRefused(create(broken(POLICY_ONLY)), says);
        expect([403, 422]).toContain((await create(broken(SANDBOXES))).status);
        if (podSecurity) await expectRefused(create(broken(POD_SECURITY_ONLY)), 'violates PodSecurity');
        else expect((await create(broken(POD_SECURITY_ONLY))).body.message).toBeUndefined();
      });

    const others = [
      'admin',
      'system:node:real-0',
      'system:kube-scheduler',
      'system:serviceaccount:kube-system:replicaset-controller',
      'system:serviceaccount:slipway-sandboxes:default',
      'system:serviceaccount:slipway-sandboxes:runtime-api',
    ];
    for (const other of others)
      it(`of ${other}, whatever rights it has`, async () => {
        const groups = other.startsWith('system:node:')
          ? ['system:nodes', 'system:masters']
          : ['system:masters', 'slipway:break-glass'];
        const asked = create(contractPod(newSlot()), other, groups);
        const status = (await asked).status;
        expect([403, 422]).toContain(status);
        if (!other.startsWith('system:node:'))
          await expectRefused(asked, 'Only runtime-api makes pods in this namespace');
      });

    it('larger than the largest sandbox', async () => {
      const pod = contractPod(newSlot());
      pod.spec.initContainers[0].resources.limits['memory'] = '129Gi';
      await expectRefused(create(pod), 'maximum memory usage per Pod is 128Gi');
    });
  });

  it('has no rule about pods that none of these pods breaks, and no message that two rules share', () => {
    const covered = [...MUTATIONS.map(({ says }) => says), 'Only runtime-api makes pods'];
    expect(
      messagesOf('slipway-sandbox-pod').filter((message) => !covered.some((words) => message.includes(words))),
    ).toEqual([]);
    for (const { says } of MUTATIONS)
      expect(messagesOf('slipway-sandbox-pod').filter((message) => message.includes(says))).toHaveLength(1);
    const all = policies.flatMap(({ spec }) => spec.validations.map(({ message }) => message));
    expect(all.length).toBeGreaterThan(60);
    expect(all.filter((message, index) => all.indexOf(message) !== index)).toEqual([]);
  });

  it('fails closed, and no expression names a field that Kubernetes does not have', async () => {
    expect(policies.map(({ spec }) => spec.failurePolicy)).toEqual(policies.map(() => 'Fail'));
    for (const { metadata } of policies) {
      const { body } = await api.ask<Policy>(`${POLICIES}/${metadata.name}`);
      expect([metadata.name, body.status?.observedGeneration, body.status?.typeChecking?.expressionWarnings]).toEqual([
        metadata.name,
        body.metadata.generation,
        undefined,
      ]);
    }
  });

  describe('keeps a sandbox as it was made:', () => {
    const slot = newSlot();
    const pod = `${podsOf(SANDBOXES)}/sb-${slot}`;
    beforeAll(async () => {
      const body = contractPod(slot);
      body.spec['nodeSelector'] = { nowhere: 'yes' };
      expect((await api.ask(podsOf(SANDBOXES), { method: 'POST', as: RUNTIME_API, body })).status).toBe(201);
      expect(
        (
          await api.ask(pod, {
            method: 'PATCH',
            as: RUNTIME_API,
            contentType: 'application/merge-patch+json',
            body: NOTES,
          })
        ).body.message,
      ).toBeUndefined();
    });
    afterAll(() => api.ask(`${pod}?gracePeriodSeconds=0`, { method: 'DELETE', as: RUNTIME_API }));

    for (const { name, as, part, patch, says } of CHANGES)
      it(says === null ? `${name} may be` : `${name} is refused`, async () => {
        const asked = api.ask(`${pod}${part}`, {
          method: 'PATCH',
          dryRun: true,
          as,
          groups: ['system:masters'],
          contentType: 'application/strategic-merge-patch+json',
          body: patch,
        });
        if (says === null) expect((await asked).body.message).toBeUndefined();
        else await expectRefused(asked, says);
      });

    for (const { name, as, path, method, body, says } of HANDS_OFF)
      it(says === null ? `${name} may be` : `${name} is refused`, async () => {
        const groups = as === undefined ? ['system:masters'] : [];
        const whole =
          body === undefined ? {} : { body: JSON.parse(JSON.stringify(body).replaceAll('SLOT', slot)) as unknown };
        const dryRun =
          path.includes('exec') || path.includes('attach') || path.includes('portforward') || path.includes('proxy')
            ? {}
            : { dryRun: true as const };
        const asked = api.ask(path.replaceAll('POD', pod).replaceAll('NAMESPACE', `/api/v1/namespaces/${SANDBOXES}`), {
          method,
          as: as ?? 'admin',
          groups,
          ...dryRun,
          ...whole,
        });
        if (says === null) expect((await asked).status).toBeLessThan(300);
        else await expectRefused(asked, says);
      });

    for (const session of ['exec?command=id', 'attach', 'portforward?ports=8000', 'proxy/']) {
      const [kind] = session.split(/[?/]/);
      it(`${kind} is refused to an administrator and to runtime-api, and left to RBAC for the group slipway:break-glass`, async () => {
        for (const as of ['admin', RUNTIME_API])
          await expectRefused(
            api.ask(`${pod}/${session}`, { method: kind === 'proxy' ? 'GET' : 'POST', as, groups: ['system:masters'] }),
            'Nobody opens a shell',
          );
        const emergency = await api.ask(`${pod}/${session}`, {
          method: kind === 'proxy' ? 'GET' : 'POST',
          as: 'admin',
          groups: ['system:masters', 'slipway:break-glass'],
        });
        expect(emergency.body.message).not.toContain('Nobody opens');
        // The pod waits for a node: RBAC and admission are behind it.
        expect([400, 500, 503]).toContain(emergency.status);
        const nobody = await api.ask(`${pod}/${session}`, {
          method: kind === 'proxy' ? 'GET' : 'POST',
          as: 'somebody',
          groups: ['slipway:break-glass'],
        });
        expect([nobody.status, nobody.body.message]).toEqual([403, expect.stringContaining('cannot')]);
      });
    }
  });

  describe('has no place for', () => {
    for (const { name, path, body, says } of REFUSED_KINDS)
      it(name, async () => {
        await expectRefused(
          api.ask(path, {
            method: 'POST',
            dryRun: true,
            as: 'admin',
            groups: ['system:masters', 'slipway:break-glass'],
            body,
          }),
          says,
        );
      });
    it('none of these by a rule that nothing here breaks', () => {
      const tried = [...REFUSED_KINDS, ...HANDS_OFF, ...CHANGES].flatMap(({ says }) => (says === null ? [] : [says]));
      const rules = [...messagesOf('slipway-sandbox-other-kinds'), ...messagesOf('slipway-sandbox-pod-changes')];
      expect(rules.filter((message) => !tried.some((words) => message.includes(words)))).toEqual([]);
    });
    for (const { name, path, body } of ALLOWED_KINDS)
      it(`nothing against ${name}`, async () => {
        const { status, body: said } = await api.ask(path, {
          method: 'POST',
          dryRun: true,
          as: 'admin',
          groups: ['system:masters'],
          body,
        });
        expect([status, said.message]).toEqual([201, undefined]);
      });
  });
});
