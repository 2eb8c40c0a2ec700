/** Requests, replicas, and what all parts of the model send to each other. */
import type { BindItem, BindResult, ModelClaim, ModelSlot } from './pool-model-database.js';

export interface ModelRequest {
  readonly id: number;
  readonly org: number;
  readonly session: string;
  readonly body: number;
  phase: 'queued' | 'picked' | 'binding' | 'activating' | 'marking';
  /** The slot in hand, from the leased slots. */
  slot: { readonly id: number; readonly epoch: number; readonly uid: number } | null;
  /** The claim that its bind under way would make: an answer to an earlier bind is not its answer. */
  proposed: number;
  /** What was bound for it, or found bound. */
  claim: ModelClaim | null;
  uid: number;
  tries: number;
}

export interface ModelReplica {
  /** Grows with each start: a lease belongs to one start of a replica. */
  incarnation: number;
  up: boolean;
  /** Leased slots, by slot: one that is sent twice is there once. */
  readonly stock: Map<number, { readonly epoch: number; readonly uid: number }>;
  requests: ModelRequest[];
}

export type Sender = { readonly replica: number; readonly incarnation: number };
export type Message =
  | (Sender & { readonly kind: 'lease'; readonly most: number; readonly isNeeded: boolean })
  | (Sender & { readonly kind: 'leased'; readonly slots: readonly ModelSlot[] })
  | (Sender & { readonly kind: 'bind'; readonly items: readonly BindItem[] })
  | (Sender & { readonly kind: 'bind-done'; readonly results: readonly BindResult[] })
  | (Sender & {
      readonly kind: 'activate';
      readonly request: number;
      readonly slot: number;
      readonly uid: number;
      readonly claim: number;
    })
  | (Sender & {
      readonly kind: 'activate-done';
      readonly request: number;
      readonly claim: number;
      readonly accepted: boolean | null;
    })
  | (Sender & { readonly kind: 'mark'; readonly request: number; readonly claim: number; readonly epoch: number })
  | (Sender & {
      readonly kind: 'mark-done';
      readonly request: number;
      readonly claim: number;
      readonly isActive: boolean;
    })
  | { readonly kind: 'create'; readonly slot: number; readonly node: number }
  | { readonly kind: 'created'; readonly slot: number; readonly uid: number; readonly node: number }
  | { readonly kind: 'remove'; readonly slot: number; readonly uid: number }
  | { readonly kind: 'removed'; readonly slot: number }
  | {
      readonly kind: 'label';
      readonly row: number;
      readonly slot: number;
      readonly uid: number;
      readonly claim: number;
    }
  | { readonly kind: 'labelled'; readonly row: number };
