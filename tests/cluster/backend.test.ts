import { describe } from '@jest/globals';
import { describeSandboxBackend } from '@slipway/sandbox/testing/contract';
import { missingForBuiltCluster } from '@slipway/testing/cluster';
import { itUnless } from '@slipway/testing/jest';
import { SANDBOXES } from './contract-pod.ts';
import { openBackendCluster } from './open-backend.ts';

const missing = await missingForBuiltCluster();

if (missing === null) {
  // Before the suite, whose clock runs from its beginning: the first image takes minutes.
  const opened = await openBackendCluster();
  describeSandboxBackend('kubernetes', async (publicKey) => {
    // Pods verify with the suite's key; archives are signed with another, and none is moved here: the workspaces of the
    // suite have no owner.
    const backend = await opened.open({ activationPublicKey: publicKey });
    return {
      backend,
      killAgentServer: async (name) => {
        const { cluster } = opened.platform;
        await cluster.killContainer(
          await cluster.kubectl(['-n', SANDBOXES, 'get', 'pod', name, '-o', 'jsonpath={.metadata.uid}']),
          'agent-server',
        );
      },
      close: () => opened.close(),
    };
  });
} else {
  describe('sandbox backend: kubernetes', () => {
    itUnless(missing)('keeps the contract of every backend', () => {});
  });
}
