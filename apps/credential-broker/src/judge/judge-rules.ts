import type { BrokerLine, OpenedRule } from '@slipway/contracts/credentials';
import { OBSERVED_RULE } from '@slipway/contracts/sandboxes';
import { decideEgress, decideRequest, EGRESS_OPEN_PORTS } from '@slipway/net';
import { METHOD_OVERRIDES, PATH_OVERRIDES } from './choose-place.js';
import { refused } from './refusal.js';
import { type RequestHead, valuesOf } from './request-head.js';

/** What app-server says of the rules of a conversation at a host. */
export interface HostRules {
  readonly rules: readonly OpenedRule[];
  /** Whether hosts that no rule is about are let through. */
  readonly observes: boolean;
  /** Files of the host that were published less than so many days ago are kept away; `null`: none is. */
  readonly minAgeDays: number | null;
}

/** What the rules let through of requests without a credential of ours. */
export interface RuleLeave {
  /** `null`: no rule but the installation's list, or the setting `observe`. */
  readonly rule: string | null;
  /** Whether it may bring a credential of its own. */
  readonly foreign: 'refuse' | 'allow';
  readonly websocket: boolean;
}

const MANY = 5;

/**
 * Refusals of any scope come first, also at the place of a credential.
 * @returns `null` where only the place of a credential lets the request through.
 * @throws SlipwayError `egress.request-refused`
 */
export function judgeByRules(
  head: RequestHead,
  line: BrokerLine,
  { rules, observes, minAgeDays }: HostRules,
  { hasCredential, now }: { readonly hasCredential: boolean; readonly now: Date },
): RuleLeave | null {
  const { host, port } = line;
  const attempt = { host, port, now: now.getTime(), openedBy: line.rule };
  const decidable = rules.map((rule) => ({ ...rule, pattern: rule }));
  const limited = decidable.filter(({ limits }) => limits !== null);
  // Beside a credential a rule that is not limited opens no way past its places, as if nothing were judged here.
  const heard = hasCredential
    ? decidable.filter(({ limits, action }) => limits !== null || action === 'deny')
    : decidable;
  const verdict = decideRequest(heard, EGRESS_OPEN_PORTS, { ...attempt, method: head.method, path: head.target.path });
  assertPlain(
    head,
    host,
    limited.filter((rule) => isInForce(rule, attempt)),
  );
  if (verdict.verdict === 'deny')
    throw refusedBy(head, host, `the rule ${verdict.rule.id} refuses ${wordsOf(verdict.rule)}`);
  if (verdict.verdict === 'allow') {
    const { id, limits } = verdict.rule;
    return { rule: id, foreign: limits?.foreign ?? 'allow', websocket: limits?.websocket ?? false };
  }
  // Of a limited permission the list adds nothing to: it says what of this host is allowed.
  const isFree = decideEgress(limited, EGRESS_OPEN_PORTS, attempt).verdict === 'unknown';
  const hasDefault = line.rule === null || (line.rule === OBSERVED_RULE && observes);
  // Some is opened for what comes from it alone.
  return isFree && hasDefault && (limited.length > 0 || minAgeDays !== null) && !hasCredential
    ? { rule: null, foreign: 'allow', websocket: false }
    : null;
}

/** The limited rules that allow something at the host, in words; `null`: there is none. */
export function allowedByRules({ rules }: HostRules): string | null {
  const allowing = rules.filter(({ action, limits }) => action === 'allow' && limits !== null);
  if (allowing.length === 0) return null;
  const words = allowing.slice(0, MANY).map((rule) => `${wordsOf(rule)} (rule ${rule.id})`);
  return `Allowed ${allowing.length === 1 ? 'is' : 'are'} ${words.join('; ')}${allowing.length > MANY ? '; and others' : ''}`;
}

export function refusedBy({ method }: RequestHead, host: string, why: string) {
  return refused('egress.request-refused', 'rule', `${method} of this path at ${host} is not passed on: ${why}.`);
}

function isInForce(
  rule: Parameters<typeof decideEgress>[0][number],
  attempt: Parameters<typeof decideEgress>[2],
): boolean {
  return decideEgress([rule], EGRESS_OPEN_PORTS, attempt).opened;
}

/** A header by which a server takes another method or path than the one that is judged. */
function assertPlain(head: RequestHead, host: string, limited: readonly OpenedRule[]): void {
  const names = [
    ...(limited.some(({ limits }) => limits?.methods != null) ? METHOD_OVERRIDES : []),
    ...(limited.some(({ limits }) => limits?.paths != null) ? PATH_OVERRIDES : []),
  ];
  const found = names.find((name) => valuesOf(head.headers, name).length > 0);
  if (found !== undefined)
    throw refusedBy(head, host, `the header ${found} asks for something else than the request says`);
}

function wordsOf({ limits }: OpenedRule): string {
  const methods = limits?.methods?.join(', ') ?? 'every method';
  const paths = limits?.paths?.slice(0, MANY).join(', ') ?? 'every path';
  return `${methods} of ${paths}`;
}
