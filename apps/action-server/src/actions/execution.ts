import type { SandboxAction, SandboxObservation } from '@slipway/contracts/actions';
import type { Call } from '../terminal/call-output.js';

export type SandboxActionKind = SandboxAction['kind'];
type ActionsByKind = { [K in SandboxActionKind]: Extract<SandboxAction, { kind: K }> };
export type SandboxActionOf<K extends SandboxActionKind> = ActionsByKind[K];

/** What carries out one kind of action. */
export interface Execution<K extends SandboxActionKind> {
  /** Aborting ends what it started. Rejects with a SlipwayError whose detail is for the model. */
  readonly execute: (action: SandboxActionOf<K>, signal: AbortSignal, call: Call) => Promise<SandboxObservation>;
  /** Why it cannot be done in this image, for the model; `null` when it can. Absent: it always can. */
  readonly missing?: () => string | null;
}

export type Executions = { readonly [K in SandboxActionKind]: Execution<K> };
