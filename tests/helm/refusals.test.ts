import { expect, it } from '@jest/globals';
import { missingForHelm } from '@slipway/testing/helm';
import { describeUnless } from '@slipway/testing/jest';
import { DIGEST, MINIMUM, render, type Values } from './chart.ts';

interface Refusal {
  readonly name: string;
  readonly values: Values;
  /** Key and reason. */
  readonly says: readonly (string | RegExp)[];
}
const ENOUGH = { cpu: '1', memory: '1Gi', ephemeralStorage: '1Gi' };

/** By the schema: one value by itself. */
const WRONG: readonly Refusal[] = [
  { name: 'a key that is misspelt', values: { appServr: {} }, says: [/additional properties 'appServr' not allowed/] },
  { name: 'a key of an app that is misspelt', values: { worker: { replica: 3 } }, says: ['/worker', /additional properties 'replica' not allowed/] },
  { name: 'a number in words', values: { worker: { replicas: 'two' } }, says: ['/worker/replicas', 'want integer'] },
  { name: 'no replicas', values: { web: { replicas: 0 } }, says: ['/web/replicas', 'minimum'] },
  { name: 'a digest that is none', values: { sandboxes: { image: { digest: 'latest' } } }, says: ['/sandboxes/image/digest', 'pattern'] },
  { name: 'an address with a path', values: { publicUrl: 'https://slipway.example.com/app' }, says: ['/publicUrl', 'pattern'] },
  { name: 'an address without a scheme', values: { publicUrl: 'slipway.example.com' }, says: ['/publicUrl', 'pattern'] },
  { name: 'a registry with a scheme', values: { image: { registry: 'https://registry.example.com' } }, says: ['/image/registry', 'pattern'] },
  { name: 'an issuer with a slash at its end', values: { oidc: { issuerUrl: 'https://id.example.com/realms/slipway/' } }, says: ['/oidc/issuerUrl', 'pattern'] },
  { name: 'root', values: { pods: { securityContext: { runAsUser: 0 } } }, says: ['/pods/securityContext/runAsUser', 'minimum'] },
  { name: 'less than restricted', values: { pods: { securityContext: { runAsNonRoot: false } } }, says: [/additional properties 'runAsNonRoot' not allowed/] },
  { name: 'another log level', values: { logLevel: 'verbose' }, says: ['/logLevel', "'trace', 'debug'"] },
  { name: 'a pod without a bound of memory', values: { web: { resources: { limits: { memory: null } } } }, says: ['/web/resources/limits', /memory/] },
  { name: 'a template without resources', values: { sandboxes: { templates: [{ name: 'one' }] } }, says: ['/sandboxes/templates/0', "missing property 'resources'"] },
  { name: 'a size that there is not', values: { sandboxes: { templates: [{ name: 'one', sizes: [3], resources: { requests: ENOUGH, limits: ENOUGH } }] } }, says: ['/sandboxes/templates/0/sizes/0'] },
  { name: 'a secret as a value', values: { oidc: { clientSecret: 'hunter2' } }, says: ['/oidc', /additional properties 'clientSecret' not allowed/] },
  { name: 'a store that is not S3', values: { sandboxes: { workspaceStore: { url: 'gs://bucket' } } }, says: ['/sandboxes/workspaceStore/url', 'pattern'] },
]; // biome-ignore format: a table reads better in lines

/** By the templates: values against each other. */
const UNFIT: readonly Refusal[] = [
  { name: 'two stores', values: { sandboxes: { workspaceStore: { volume: { enabled: true } } } }, says: ['sandboxes.workspaceStore: url and volume.enabled are both set'] },
  { name: 'a volume of one node for two replicas', values: { sandboxes: { workspaceStore: { url: '', volume: { enabled: true, accessMode: 'ReadWriteOnce' } } } }, says: ['volume.accessMode', 'runtimeApi.replicas to 1'] },
  { name: 'PostHog without its keys', values: { observability: { posthog: { host: 'https://eu.i.posthog.com' } } }, says: ['observability.posthog.existingSecret: name the Secret'] },
  { name: 'flags of a PostHog that is not named', values: { observability: { flags: { provider: 'posthog' } } }, says: ['observability.flags.provider: posthog needs'] },
  { name: 'a model server without a model', values: { llm: { baseUrl: 'https://models.example.com/v1' } }, says: ['llm.model: name the model'] },
  { name: 'sandboxes in the namespace of the platform', values: { sandboxes: { namespace: 'slipway' } }, says: ["sandboxes.namespace: slipway is the release's own"] },
  { name: 'sandboxes on the host of Slipway', values: { sandboxGateway: { publicUrl: 'https://slipway.example.com:8443' } }, says: ['sandboxGateway.publicUrl: needs a host of its own'] },
  { name: 'a wildcard of nothing', values: { ingress: { sandboxGateway: { wildcard: true } } }, says: ['ingress.sandboxGateway.wildcard: set sandboxGateway.publicUrl'] },
  { name: 'an end in the middle of the drain', values: { worker: { pod: { drainSeconds: 50 } } }, says: ['worker: terminationGracePeriodSeconds (60) must be at least 32 more than drainSeconds (50)'] },
  { name: 'a route to nowhere', values: { httpRoute: { enabled: true } }, says: ['httpRoute.parentRefs: name the Gateway'] },
  { name: 'sandboxes before the platform', values: { priorityClasses: { sandboxes: { value: 2000 } } }, says: ['priorityClasses: sandboxes.value must be less than platform.value'] },
  { name: 'fewer at most than at least', values: { web: { autoscaling: { enabled: true, minReplicas: 9 } } }, says: ['web.autoscaling: minReplicas is more than maxReplicas'] },
  { name: 'two templates of one name', values: { sandboxes: { templates: [1, 2].map(() => ({ name: 'twin', resources: { requests: ENOUGH, limits: ENOUGH } })) } }, says: ['two of them are called twin'] },
]; // biome-ignore format: a table reads better in lines

describeUnless(missingForHelm())('the chart refuses', () => {
  for (const { name, values, says } of WRONG)
    it(`${name}, by key and reason`, async () => {
      const { code, said } = await render([MINIMUM, values]);
      expect(code).not.toBe(0);
      expect(said).toContain("values don't meet the specifications of the schema");
      for (const words of says)
        expect(said).toMatch(
          words instanceof RegExp ? words : new RegExp(words.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')),
        );
    });
  for (const { name, values, says } of UNFIT)
    it(`${name}, in a sentence`, async () => {
      const { code, said } = await render([MINIMUM, values]);
      expect(code).not.toBe(0);
      for (const words of says) expect(said).toContain(words);
    });

  it('a drain that is too long for all of them once, with the apps that it is about', async () => {
    const { said } = await render([MINIMUM, { pods: { drainSeconds: 50 } }]);
    expect(said.match(/must be at least 32 more than drainSeconds/g)).toHaveLength(1);
    expect(said).toContain(
      'appServer, worker, runtimeApi, llmGateway, sandboxGateway, egressProxy, credentialBroker, web: terminationGracePeriodSeconds (60)',
    );
  });

  it('to guess: everything that has no default is asked for at once', async () => {
    const { code, said } = await render([{}]);
    expect(code).not.toBe(0);
    for (const key of [
      'publicUrl',
      'postgresql',
      'oidc.issuerUrl',
      'oidc.existingSecret',
      'sandboxes.image.digest',
      'sandboxes.workspaceStore',
    ])
      expect(said).toContain(`- ${key}`);
  });

  it('nothing of what a whole URL or an image by its digest leaves out', async () => {
    const values = {
      postgresql: { host: '', existingSecret: 'urls', owner: { existingSecret: '' } },
      appServer: { image: { digest: DIGEST } },
    };
    const { code, said, objects } = await render([MINIMUM, values]);
    expect([code, code === 0 ? '' : said]).toEqual([0, '']);
    expect(JSON.stringify(objects)).toContain(`slipway/app-server@${DIGEST}`);
  });
});
