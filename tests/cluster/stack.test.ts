import { afterAll, beforeAll } from '@jest/globals';
import { missingForBuiltCluster } from '@slipway/testing/cluster';
import { describeUnless } from '@slipway/testing/jest';
import { EgressOnHost } from './egress-on-host.ts';
import { egressCases } from './stack-egress-cases.ts';
import { lifeCases, makeRepository } from './stack-life-cases.ts';
import { StackOnCluster } from './stack-on-cluster.ts';
import { reasonCases } from './stack-reason-cases.ts';

const missing = await missingForBuiltCluster();

describeUnless(missing)('Slipway with its sandboxes in pods', () => {
  let on: StackOnCluster;
  let egress: EgressOnHost;
  beforeAll(async () => {
    // Small on purpose: what goes beyond is over at once.
    const amounts = { cpu: '50m', memory: '128Mi', ephemeralStorage: '64Mi' };
    const limits = { cpu: '2', memory: '256Mi', ephemeralStorage: '64Mi' };
    egress = await EgressOnHost.prepare();
    on = await StackOnCluster.open({
      egress,
      template: { resources: { requests: amounts, limits }, sizes: [1, 2], pools: { 1: { min: 2, max: 2 } } },
    });
    // Every repository of these tests is cloned through it.
    await egress.start(on.cluster.hostAddress, [on.open.git.url.replace('http://', '')]);
    await makeRepository(on);
    await on.warm();
  });
  afterAll(async () => {
    await on?.close();
    await egress?.close();
  });

  lifeCases(() => on);
  reasonCases(() => on);
  egressCases(
    () => on,
    () => egress,
  );
});
