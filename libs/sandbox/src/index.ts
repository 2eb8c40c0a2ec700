export { type ActivationOutcome, readActivation, sendActivation, signActivation } from './activation.js';
export type {
  ListedSandbox,
  ResourceFactor,
  Restarts,
  SandboxBackend,
  SandboxKind,
  SandboxObservation,
  SandboxProblem,
  SandboxSpec,
} from './sandbox-backend.js';
