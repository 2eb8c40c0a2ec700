export { type ActivationOutcome, readActivation, sendActivation, signActivation } from './activation.js';
export type {
  ListedSandbox,
  RemoveOptions,
  ResourceFactor,
  Restarts,
  SandboxBackend,
  SandboxKind,
  SandboxObservation,
  SandboxOwner,
  SandboxProblem,
  SandboxSpec,
} from './sandbox-backend.js';
export { sandboxRequest } from './sandbox-request.js';
export { readAnswer, refusedTransfer, type SandboxTransfer, signedToken, transfer } from './transfer.js';
