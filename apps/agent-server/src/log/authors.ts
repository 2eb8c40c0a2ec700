import type { SendEventRequest } from '@slipway/contracts/agent';
import type { RespondToConfirmationRequest } from '@slipway/contracts/conversations';
import { actsForApp, type Caller } from '../activation/caller.js';

/** Fields of a MessageEvent that name who wrote it. */
export interface Author {
  readonly sender?: string;
  readonly sender_id?: string;
}

/** Of a caller that sandbox-gateway named. Empty for others. */
export function authorOf(caller: Caller): Author {
  return caller.kind === 'user' ? { sender: caller.user.label, sender_id: caller.user.id } : {};
}

/**
 * The message with the author that may be believed: the app names anybody, others only themselves. A release of the app
 * without a key gives a name and no id. The event's id is not for who comes by sandbox-gateway: with it they could put
 * a message in the place of another's.
 */
export function withAuthor(caller: Caller, message: SendEventRequest): SendEventRequest {
  if (caller.kind === 'app') return message;
  const { sender_id: _, attachments: _files, notice: _notice, ...named } = message;
  if (actsForApp(caller)) return named;
  const { sender: _sender, event_id, ...rest } = named;
  // An earlier worker delivers so while releases roll: under another id it would deliver the same message again and
  // again.
  const keepsId = caller.kind === 'unauthenticated' && !caller.isMarked && event_id !== undefined;
  return { ...rest, ...(keepsId ? { event_id } : {}), ...authorOf(caller) };
}

/** An answer, with what is known of who gave it. */
export interface Answer extends RespondToConfirmationRequest {
  readonly through: 'app' | 'sandbox-gateway';
}

/** As `withAuthor`, for an answer to what waits and for the rule that it makes. */
export function withAnswerer(caller: Caller, answer: RespondToConfirmationRequest): Answer {
  if (caller.kind === 'app') return { ...answer, through: 'app' };
  const { by, by_id: _id, by_kind: _kind, receipt: _receipt, rule, run = false, ...rest } = answer.slipway ?? {};
  const given = actsForApp(caller) && by !== undefined ? { by } : {};
  const named =
    caller.kind === 'user' ? { by: caller.user.label, by_id: caller.user.id, by_kind: caller.user.kind } : given;
  const { by: _ruleBy, ...unnamed } = rule ?? {};
  const rules = rule === undefined ? {} : { rule: unnamed as typeof rule };
  return {
    ...answer,
    slipway: { ...rest, run, ...named, ...rules },
    through: caller.kind === 'user' ? 'sandbox-gateway' : 'app',
  };
}
