import { type BrokerLine, isAskedPlace } from '@slipway/contracts/credentials';
import { readReferences, withValues } from '../forms/references.js';
import { choose, placesOf } from './choose-place.js';
import type { Chosen, HeldCredential } from './credential.js';
import { type Foreign, foreignOf, withoutForeign } from './foreign.js';
import { allowedByRules, type HostRules, judgeByRules, type RuleLeave, refusedBy } from './judge-rules.js';
import { misplaced, refused } from './refusal.js';
import type { Header, RequestHead } from './request-head.js';

/** What may be sent on. */
export interface Judged extends Chosen {
  /** With values in it, but for a signature of AWS. */
  readonly head: RequestHead;
  /** Credentials that are in it. */
  readonly used: readonly HeldCredential[];
}

/** What a rule lets through, or the installation's list beside rules that refuse: without a credential of ours. */
export interface ByRule extends RuleLeave {
  readonly head: RequestHead;
  readonly credential: null;
  readonly place: null;
  readonly git: null;
  readonly used: readonly [];
}

export type Passed = Judged | ByRule;

export interface Available extends HostRules {
  readonly credentials: readonly HeldCredential[];
  /** Names of those for the host that rest. */
  readonly resting: readonly string[];
  /** Names of those that have ended. */
  readonly expired: readonly string[];
}

/**
 * Judges a request by the rules about its host and by the places of what its conversation may use there, and puts
 * values in. In this order: a rule that refuses it, a place of a credential, a rule that allows it.
 * @throws SlipwayError `egress.request-refused`, `credential.misplaced`, `.foreign`, `.resting`, `.expired`,
 * `.unsupported`, `.rejected`.
 */
export function judgeRequest(head: RequestHead, line: BrokerLine, available: Available, now: Date): Passed {
  const { credentials, resting, expired } = available;
  const hasCredential = credentials.length + resting.length + expired.length > 0;
  const leave = judgeByRules(head, line, available, { hasCredential, now });
  const found = placesOf(head, line, credentials);
  const brought = readReferences(head, found);
  if (found.length === 0 && leave !== null) return withoutCredential(head, line, leave);
  if (credentials.length === 0 && resting.length > 0) throw rests(resting[0] ?? '', line.host);
  if (credentials.length === 0 && expired[0] !== undefined) throw over(expired[0], line.host);
  const allowed = found.length === 0 ? allowedByRules(available) : null;
  if (allowed !== null) throw refusedBy(head, line.host, `no rule allows it. ${allowed}`);
  return withCredential(head, choose(head, line, credentials, { found, brought }), { line, found, brought });
}

function withoutCredential(head: RequestHead, { host }: BrokerLine, leave: RuleLeave): ByRule {
  const foreign = leave.foreign === 'refuse' ? foreignOf(head, null, new Set()) : [];
  if (foreign.length > 0)
    throw isForeign(foreign, `The rule ${leave.rule} lets requests to ${host} pass without a credential`);
  return { ...leave, head, credential: null, place: null, git: null, used: [] };
}

function withCredential(
  head: RequestHead,
  chosen: Chosen,
  {
    line: { host },
    found,
    brought,
  }: { readonly line: BrokerLine; readonly found: readonly Chosen[]; readonly brought: ReadonlySet<string> },
): Judged {
  const { credential, place } = chosen;
  const foreign = foreignOf(head, credential.use, brought);
  if (foreign.length > 0 && place.foreign === 'refuse')
    throw isForeign(foreign, `A request to ${host} gets its credential on the way and may bring no other`);
  const own = place.foreign === 'drop' ? withoutForeign(head, foreign) : head;
  const named = found.filter(({ credential: { reference } }) => reference !== null && brought.has(reference));
  // The question would be about one of them alone.
  if (named.length > 1 && named.some((each) => isAskedPlace(each.place)))
    throw misplaced(
      `A request to ${host} that a user is asked about, or that is counted, has one reference.`,
      'reference',
    );
  const filled = named.length === 0 ? own : withValues(own, named);
  const referenced = named.map((each) => each.credential);
  // What passes with a credential of its own gets none of ours beside it.
  if (credential.use.form === 'placeholder' || (foreign.length > 0 && place.foreign === 'allow'))
    return { ...chosen, head: checked(filled, credential), used: referenced };
  const used = [credential, ...referenced.filter(({ id }) => id !== credential.id)];
  return { ...chosen, head: checked(withHeader(filled, credential), credential), used };
}

/** A request that is under way, with other rules and credentials. @returns `null`: it may not go on. */
export function passAgain(
  passed: Passed,
  head: RequestHead,
  line: BrokerLine,
  { available, now }: { readonly available: Available; readonly now: Date },
): Passed | null {
  try {
    if (passed.credential === null) {
      const again = judgeRequest(head, line, available, now);
      return again.credential === null ? again : null;
    }
    // That its credential is still there, with the same places, is looked at apart.
    judgeByRules(head, line, available, { hasCredential: true, now });
    return passed;
  } catch {
    return null;
  }
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

function isForeign(foreign: readonly Foreign[], why: string) {
  const words = foreign.slice(0, 3).map(({ kind, name }) => `the ${kind} ${name.slice(0, 60)}`);
  return refused('credential.foreign', 'foreign', `${why}; this one has ${words.join(', ')}.`);
}

const over = (name: string, host: string) =>
  refused('credential.expired', 'expired', `${name}, the credential for ${host}, has expired.`);

export const rests = (name: string, host: string) =>
  refused('credential.resting', 'resting', `${name} is not used now: ${host} has sent its value back.`);
