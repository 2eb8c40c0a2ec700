import { afterAll, beforeAll } from '@jest/globals';
import { describeUnless } from '@slipway/testing/jest';
import { describeReach } from './network-reach.ts';
import { openPlatformCluster, type PlatformCluster } from './platform-cluster.ts';

const given = process.env['SLIPWAY_TEST_KUBECONFIG'] || process.env['KUBECONFIG'];
/** The sandbox image as the nodes of a given cluster can pull it, `repository@sha256:<digest>`. */
const image = process.env['SLIPWAY_TEST_SANDBOX_IMAGE'];

const missing = given
  ? !image &&
    'This cluster takes no image from here: name the sandbox image that its nodes can pull in SLIPWAY_TEST_SANDBOX_IMAGE, as repository@sha256:<digest>.'
  : 'No cluster is given. On one that takes images from here, isolation.test.ts tries the network.';

/** On a cluster run by others: the one place where enforcement can be bought and missed. */
describeUnless(missing)('a sandbox on the given cluster', () => {
  let platform: PlatformCluster;
  beforeAll(async () => {
    platform = await openPlatformCluster();
  });
  afterAll(() => platform?.close());
  describeReach(() => ({ platform, image: image ?? '', pull: 'IfNotPresent' }));
});
