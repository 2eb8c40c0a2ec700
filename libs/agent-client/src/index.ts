export { type AgentAddress, AgentClient, type CallDefaults } from './agent-client.js';
export { AgentError, type AgentFailure, isMissing } from './agent-error.js';
export { applySettings } from './apply-settings.js';
export type { CallAnswer, CallArguments, CallOptions } from './calls.js';
export { letRun, type RunOutcome } from './let-run.js';
export { type IdleTimes, idleTimes, probe } from './probe.js';
export { MAX_PATCH_BYTES } from './refusals.js';
