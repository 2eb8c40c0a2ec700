import { FarmBackend } from './farm-backend.js';
import { describeSandboxBackend } from './sandbox-backend.contract.js';
import { SandboxFarm } from './sandbox-farm.js';

describeSandboxBackend('farm', async (publicKey) => {
  const farm = await new SandboxFarm(publicKey).start();
  return {
    backend: new FarmBackend(farm.url),
    killAgentServer: async (name) => farm.end(name),
    close: () => farm.close(),
  };
});
