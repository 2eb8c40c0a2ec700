import https from 'node:https';
import { connect } from 'node:tls';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { stopwatch, until } from '@slipway/testing';
import {
  ECHO_IMAGE,
  echoArchive,
  missingForBuiltCluster,
  openBuiltCluster,
  type TestCluster,
} from '@slipway/testing/cluster';
import { describeUnless } from '@slipway/testing/jest';

const missing = await missingForBuiltCluster();
/** Longest until the pod answers, on a machine that does other things beside. Milliseconds. */
const POD_MS = 60_000;

/** A pod that asks others for the test, and a Service before it. */
const MANIFESTS = [
  {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'echo', labels: { app: 'echo' } },
    spec: {
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'echo', image: ECHO_IMAGE, imagePullPolicy: 'Never' }],
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'door' },
    spec: { selector: { app: 'echo' }, ports: [{ port: 80, targetPort: 8080 }] },
  },
];

jest.setTimeout(240_000);

describeUnless(missing)('names in a test cluster', () => {
  let cluster: TestCluster;
  let address: string;
  beforeAll(async () => {
    cluster = await openBuiltCluster({ kubeProxy: true, dns: true, hostNames: ['slipway.test', '*.slipway.test'] });
    await cluster.importImage(await echoArchive());
    await cluster.kubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: MANIFESTS }));
    address = await until(
      'the pod has an address',
      async () => (await cluster.kubectl(['get', 'pod', 'echo', '-o', 'jsonpath={.status.podIP}'])) || null,
      POD_MS,
    );
  });
  afterAll(() => cluster?.close());

  const askedByPod = async (url: string): Promise<string> => {
    const response = await fetch(`http://${address}:8080/fetch?url=${encodeURIComponent(url)}`, {
      signal: AbortSignal.timeout(10_000),
    });
    return `${response.status} ${await response.text()}`;
  };

  it('of a Service lead a pod to it, short, whole, and soon after it was made', async () => {
    await until('the Service answers', async () => (await askedByPod('http://door/')).startsWith('200'), POD_MS);
    for (const name of ['door', 'door.default', 'door.default.svc.cluster.local'])
      expect(await askedByPod(`http://${name}/`)).toBe(`200 echo at ${name}\n`);
  });

  it('without an owner do not exist, at once', async () => {
    for (const name of ['nobody', 'example.com', 'other.test']) {
      const passed = stopwatch();
      expect(await askedByPod(`http://${name}/`)).toMatch(/^502 .*no such host/);
      expect(passed()).toBeLessThan(4_000);
    }
  });

  it('that the test wants lead pods to this machine, whose certificate is for them', async () => {
    const { hostCertificate, hostAddress } = cluster;
    if (hostCertificate === null) throw new Error('there is no certificate');
    const { ca, certificate, key } = hostCertificate;
    const server = https.createServer({ cert: certificate, key }, (_, response) => response.end());
    await new Promise<void>((resolve) => server.listen(0, hostAddress, resolve));
    const { port } = server.address() as { port: number };
    try {
      // It comes here, and does not know who signed it.
      expect(await askedByPod(`https://slipway.test:${port}/`)).toMatch(/^502 .*unknown authority/);
      for (const [servername, authorized] of [
        ['slipway.test', true],
        ['any.slipway.test', true],
        ['other.test', false],
      ] as const) {
        // biome-ignore format: a list reads better in lines
        const socket = connect({ host: hostAddress, port, servername, ca, rejectUnauthorized: false });
        await new Promise<void>((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
        expect([servername, socket.authorized]).toEqual([servername, authorized]);
        socket.destroy();
      }
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
