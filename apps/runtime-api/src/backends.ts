import { createPublicKey } from 'node:crypto';
import type { SandboxBackend } from '@slipway/sandbox';
import { ProcessBackend, type ProcessBackendConfig } from '@slipway/sandbox/adapters/process';
import type { Config } from './config.js';

type HostEnvironment = Readonly<Record<string, string | undefined>>;

/** The only file that knows the adapters. */
const createBackend: Record<Config['SANDBOX_BACKEND'], (config: Config, host: HostEnvironment) => SandboxBackend> = {
  process: (config, host) => new ProcessBackend(processBackendConfig(config, host)),
};

export function backendOf(config: Config, host: HostEnvironment): SandboxBackend {
  return createBackend[config.SANDBOX_BACKEND](config, host);
}

function processBackendConfig(config: Config, host: HostEnvironment): ProcessBackendConfig {
  return {
    directory: config.PROCESS_BACKEND_DIR,
    agentServerCommand: config.AGENT_SERVER_COMMAND,
    actionServerCommand: config.ACTION_SERVER_COMMAND,
    activationPublicKey: createPublicKey(config.ACTIVATION_PRIVATE_KEY).export({ format: 'der', type: 'spki' }).toString('base64'),
    nodeEnv: config.NODE_ENV,
    logLevel: config.LOG_LEVEL,
    hostEnvironment: host,
  };
}
