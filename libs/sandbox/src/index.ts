export { type ActivationOutcome, readActivation, sendActivation, signActivation } from './activation.js';
export type { ListedSandbox, Restarts, SandboxBackend, SandboxObservation, SandboxSpec } from './sandbox-backend.js';
