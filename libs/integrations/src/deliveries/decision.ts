import { type DeliveryReason } from '@slipway/contracts/integrations';
import { ROLE_PERMISSIONS, type Role } from '@slipway/contracts/organizations';
import type { Intent, Reading } from '../intent.js';

/** The actor's user here, as of now. `null`: the account is not linked. */
export interface ActorHere {
  readonly userId: string;
  readonly label: string;
  /** `null`: no member of the organization. */
  readonly role: Role | null;
  readonly overBudget: boolean;
}

/** The thread as it is known here. `null`: it never started anything. */
export interface ThreadHere {
  readonly conversationId: string | null;
  readonly muted: boolean;
}

/** What holds at the moment of a decision. */
export interface Standing {
  readonly disabled: boolean;
  readonly closing: boolean;
  /** Another delivery of the same deed was acted on. */
  readonly repeated: boolean;
  readonly thread: ThreadHere | null;
  readonly actor: ActorHere | null;
}

/** An act that nothing but the provider's word on the actor's rights stands against. */
export type Act = 'start' | 'message' | 'stop' | 'mute' | 'press';

export type Decision =
  | { readonly state: 'ignored' | 'refused'; readonly code: DeliveryReason; readonly detail: string | null }
  | { readonly state: 'act'; readonly act: Act; readonly intent: Intent; readonly actor: ActorHere };

/**
 * Whether an actor may write to the repository of an intent, by the provider's answer. `unknown` whenever it has not
 * given one.
 */
export type WriteAccess = 'write' | 'none' | 'other-account' | 'unknown';

const ignored = (code: DeliveryReason, detail: string | null = null): Decision => ({ state: 'ignored', code, detail });
const refused = (code: DeliveryReason, detail: string | null = null): Decision => ({ state: 'refused', code, detail });

/** Why a reading asks for nothing, or the intent that it is. */
export function withoutIntent(reading: Reading): Decision | null {
  switch (reading.kind) {
    case 'intent':
      return null;
    case 'ignored':
      return ignored(reading.reason, reading.detail ?? null);
    case 'challenge':
      return ignored('connection-test');
    case 'lifecycle':
      return ignored(
        reading.lifecycle.kind === 'verified' ? 'connection-test' : 'connection-changed',
        reading.lifecycle.kind,
      );
    case 'outcome':
      return ignored('outcome-reported', reading.outcome.kind);
  }
}

/**
 * What an intent may lead to, as far as we know by ourselves. Every refusal is final for this delivery; an `act` still
 * needs the provider's word where a repository is named (`allowedBy`). Pure: the worker and a dry run decide alike.
 */
export function decide(intent: Intent, standing: Standing): Decision {
  if (standing.disabled) return refused('connection-disabled');
  if (standing.closing) return refused('organization-closing');
  if (standing.repeated) return ignored('same-deed');
  const { thread, actor } = standing;
  if (thread?.muted === true) return ignored('thread-muted');
  if (intent.actor.foreign === true) return refused('actor-foreign', intent.actor.login);
  if (actor === null) return refused('actor-not-linked', intent.actor.login);
  if (actor.role === null) return refused('actor-not-member', actor.label);
  const act = actOf(intent, thread);
  if (act === null) return ignored(intent.press === undefined ? 'nothing-to-stop' : 'answered-already');
  const needs = act === 'start' ? 'conversation:create' : 'conversation:write';
  if (!(ROLE_PERMISSIONS[actor.role] as readonly string[]).includes(needs))
    return refused('actor-not-allowed', `${actor.role}: no ${needs}`);
  // To end something costs nothing.
  if ((act === 'start' || act === 'message') && actor.overBudget) return refused('over-budget', actor.label);
  return { state: 'act', act, intent, actor };
}

const REFUSALS = { none: 'no-write-access', 'other-account': 'other-account', unknown: 'permission-unknown' } as const;

/**
 * The decision after the provider was asked. Fails closed: what it has not said is a no. @param why for the log [the
 * repository].
 */
export function allowedBy(access: WriteAccess, decision: Decision, why: string | null = null): Decision {
  if (decision.state !== 'act' || access === 'write') return decision;
  return refused(REFUSALS[access], why ?? decision.intent.repository?.fullName ?? null);
}

/**
 * Whether the provider has to be asked: where no repository is named, the user does what they could do on our own page.
 */
export function needsWriteAccess(decision: Decision): boolean {
  return decision.state === 'act' && decision.intent.repository !== null;
}

function actOf({ trigger, press }: Intent, thread: ThreadHere | null): Act | null {
  if (trigger === 'mute') return 'mute';
  const running = thread !== null && thread.conversationId !== null;
  if (press !== undefined) return running ? 'press' : null;
  if (trigger === 'stop') return running ? 'stop' : null;
  return running ? 'message' : 'start';
}
