import { type HostPattern, namesHost } from './egress-hosts.js';

/** Whom a rule is for, the narrowest first. */
export const EGRESS_SCOPES = ['conversation', 'environment', 'repository', 'organization'] as const;
export type EgressScope = (typeof EGRESS_SCOPES)[number];

/** A rule of an organization that is about the conversation which asks. */
export interface EgressRuleOf {
  readonly id: string;
  readonly scope: EgressScope;
  readonly pattern: HostPattern;
  readonly action: 'allow' | 'deny';
  /** After this it lets no new connection through; `null`: it has no end. Milliseconds since 1970. */
  readonly endsAt: number | null;
  /** Was given for a moment: what it let through goes on after its end, until the rule is removed. */
  readonly once: boolean;
}

/** What is decided of a connection by an organization's rules. */
export type EgressVerdict =
  | { readonly verdict: 'allow' | 'deny'; readonly rule: EgressRuleOf }
  /** No rule is about it: the organization's default decides. */
  | { readonly verdict: 'unknown' };

export interface EgressAttempt {
  /** In the form of `canonicalHost`. */
  readonly host: string;
  readonly port: number;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The rule that let a connection through which is open already; `null` for a new one. */
  readonly openedBy: string | null;
}

/**
 * A refusal of any scope comes before every permission; of permissions the narrowest counts. A rule without a port is
 * about all of `openPorts`, a refusal without one about every port.
 * @param openPorts ports on which a host may be reached whose rule names none.
 */
export function decideEgress(
  rules: readonly EgressRuleOf[],
  openPorts: ReadonlySet<number>,
  { host, port, now, openedBy }: EgressAttempt,
): EgressVerdict {
  let allowed: EgressRuleOf | null = null;
  for (const rule of rules) {
    const { pattern, action, endsAt, once, id } = rule;
    const goesOn = once && id === openedBy;
    if ((endsAt !== null && endsAt <= now && !goesOn) || !namesHost(pattern, host)) continue;
    if (action === 'deny') {
      if (pattern.port === null || pattern.port === port) return { verdict: 'deny', rule };
    } else if (pattern.port === null ? openPorts.has(port) : pattern.port === port)
      if (allowed === null || EGRESS_SCOPES.indexOf(rule.scope) < EGRESS_SCOPES.indexOf(allowed.scope)) allowed = rule;
  }
  return allowed === null ? { verdict: 'unknown' } : { verdict: 'allow', rule: allowed };
}
