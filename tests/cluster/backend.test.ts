import { describe, it } from 'node:test';
import { describeSandboxBackend } from '@slipway/sandbox/testing';
import { lackForTestCluster } from '@slipway/testing/cluster';
import { openBackendCluster } from './open-backend.ts';

const lack = await lackForTestCluster();

if (lack === null) {
  describeSandboxBackend('kubernetes', async (publicKey) => {
    const opened = await openBackendCluster();
    // The contract signs with a key of its own; archives are signed with the cluster's, and no archive of an owned sandbox is moved here.
    const backend = await opened.open({ activationPublicKey: publicKey });
    return {
      backend,
      killAgentServer: async (name) => {
        const uid = await opened.platform.cluster.kubectl(['-n', 'slipway-sandboxes', 'get', 'pod', name, '-o', 'jsonpath={.metadata.uid}']);
        await opened.platform.cluster.killContainer(uid, 'agent-server');
      },
      close: () => opened.close(),
    };
  });
} else {
  describe('sandbox backend: kubernetes', () => {
    it('keeps the contract of every backend', { skip: lack }, () => {});
  });
}
