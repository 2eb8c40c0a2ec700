export { type ActivationOutcome, readActivation, sandboxRequest, sendActivation, signActivation } from './activation.js';
export type { ListedSandbox, Restarts, SandboxBackend, SandboxObservation, SandboxSpec } from './sandbox-backend.js';
