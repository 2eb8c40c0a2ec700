import type { BrokerLine } from '@slipway/contracts/credentials';
import { readReferences, withValues } from '../forms/references.js';
import { choose, placesOf } from './choose-place.js';
import type { Chosen, HeldCredential } from './credential.js';
import { type Foreign, foreignOf, withoutForeign } from './foreign.js';
import { refused } from './refusal.js';
import type { Header, RequestHead } from './request-head.js';

/** What may be sent on. */
export interface Judged extends Chosen {
  /** With values in it, but for a signature of AWS. */
  readonly head: RequestHead;
  /** Credentials that are in it. */
  readonly used: readonly HeldCredential[];
}

export interface Available {
  readonly credentials: readonly HeldCredential[];
  /** Names of those for the host that rest. */
  readonly resting: readonly string[];
}

/**
 * Judges a request by the places of what its conversation may use at its host, and puts values in.
 * @throws SlipwayError `credential.misplaced`, `.foreign`, `.resting`, `.unsupported`, `.rejected`.
 */
export function judgeRequest(head: RequestHead, line: BrokerLine, { credentials, resting }: Available): Judged {
  if (credentials.length === 0 && resting.length > 0) throw rests(resting[0] ?? '', line.host);
  const found = placesOf(head, line, credentials);
  const brought = readReferences(head, found);
  const chosen = choose(head, line, credentials, { found, brought });
  const { credential, place } = chosen;
  const foreign = foreignOf(head, credential, brought);
  if (foreign.length > 0 && place.foreign === 'refuse') throw isForeign(foreign, line.host);
  const own = place.foreign === 'drop' ? withoutForeign(head, foreign) : head;
  const named = found.filter(({ credential: { reference } }) => reference !== null && brought.has(reference));
  const filled = named.length === 0 ? own : withValues(own, named);
  const referenced = named.map((each) => each.credential);
  // What passes with a credential of its own gets none of ours beside it.
  if (credential.use.form === 'placeholder' || (foreign.length > 0 && place.foreign === 'allow'))
    return { ...chosen, head: checked(filled, credential), used: referenced };
  const used = [credential, ...referenced.filter(({ id }) => id !== credential.id)];
  return { ...chosen, head: checked(withHeader(filled, credential), credential), used };
}

/** Of the forms that are one header. */
function withHeader(head: RequestHead, credential: HeldCredential): RequestHead {
  const made = headerOf(credential);
  if (made === null) return head;
  const [name] = made;
  return { ...head, headers: [...head.headers.filter(([each]) => each.toLowerCase() !== name.toLowerCase()), made] };
}

function headerOf({ use, value, identity }: HeldCredential): Header | null {
  if (use.form === 'bearer') return ['Authorization', `Bearer ${value.toString('latin1')}`];
  if (use.form === 'workload-token') return ['Authorization', `Bearer ${identity?.toString('latin1') ?? ''}`];
  if (use.form === 'basic')
    return ['Authorization', `Basic ${Buffer.concat([Buffer.from(`${use.username}:`), value]).toString('base64')}`];
  return use.form === 'header' ? [use.header, `${use.prefix}${value.toString('latin1')}`] : null;
}

function checked(head: RequestHead, { name }: HeldCredential): RequestHead {
  if (head.headers.every(([, value]) => /^[\t\x20-\x7e\x80-\xff]*$/.test(value))) return head;
  throw refused('credential.rejected', 'rejected', `The value of ${name} cannot stand in a header.`);
}

function isForeign(foreign: readonly Foreign[], host: string) {
  const words = foreign.slice(0, 3).map(({ kind, name }) => `the ${kind} ${name.slice(0, 60)}`);
  return refused(
    'credential.foreign',
    'foreign',
    `A request to ${host} gets its credential on the way and may bring no other; this one has ${words.join(', ')}.`,
  );
}

export const rests = (name: string, host: string) =>
  refused('credential.resting', 'resting', `${name} is not used now: ${host} has sent its value back.`);
