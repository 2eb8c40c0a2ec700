import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import { ECHO_IMAGE, echoArchive, missingForTestCluster } from '@slipway/testing/cluster';
import { describeUnless } from '@slipway/testing/jest';
import { openPlatformCluster, type PlatformCluster } from './platform-cluster.ts';

const MANIFEST = path.resolve(import.meta.dirname, '../../deploy/kubernetes/prepull.yaml');

describeUnless(await missingForTestCluster())('the image pre-pull', () => {
  let platform: PlatformCluster;
  beforeAll(async () => {
    platform = await openPlatformCluster();
    await platform.cluster.importImage(await echoArchive());
  });
  afterAll(() => platform?.close());

  it('is admitted by the platform namespace and holds an image on the node', async () => {
    const { cluster } = platform;
    const manifest = (await readFile(MANIFEST, 'utf8')).replace(
      /image: slipway\.local\/sandbox@sha256:0+/,
      `image: ${ECHO_IMAGE}\n          imagePullPolicy: Never`,
    );
    // The test's image has one program, which is not sleep.
    await cluster.kubectl(['apply', '-f', '-'], manifest.replace('command: [sleep, infinity]', ''));
    await until(
      'it runs on the node',
      async () =>
        (
          await cluster.kubectl([
            '-n',
            'slipway',
            'get',
            'daemonset',
            'prepull-standard',
            '-o',
            'jsonpath={.status.numberReady}',
          ])
        ).trim() === '1',
      60_000,
    );
    const node = await cluster.kubectl([
      '-n',
      'slipway',
      'get',
      'pods',
      '-l',
      'app.kubernetes.io/name=slipway-prepull',
      '-o',
      'jsonpath={.items[*].spec.nodeName}',
    ]);
    expect(node).toBe(cluster.realNode);
  });
});
