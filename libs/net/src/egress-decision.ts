import { type HostPattern, namesHost } from './egress-hosts.js';
import { matchesPath, mayMatchPath } from './path-pattern.js';

/** Whom a rule is for, the narrowest first. */
export const EGRESS_SCOPES = ['conversation', 'environment', 'repository', 'organization'] as const;
export type EgressScope = (typeof EGRESS_SCOPES)[number];

/** Ports of a rule that names none. */
export const EGRESS_OPEN_PORTS: ReadonlySet<number> = new Set([80, 443]);
/** A limited rule is about this port too, whatever port it names: past it a request would go in clear and unjudged. */
const CLEAR_PORT = 80;

/** The requests that a rule is about; `null`: all methods, all paths. */
export interface RequestLimits {
  readonly methods: readonly string[] | null;
  readonly paths: readonly string[] | null;
}

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
  /** Of a limited rule, whose host is opened and its requests judged; `null`: it is about connections as a whole. */
  readonly limits: RequestLimits | null;
}

/** What is decided of a connection or a request by an organization's rules. */
export type EgressVerdict<R extends EgressRuleOf = EgressRuleOf> =
  | { readonly verdict: 'allow' | 'deny'; readonly rule: R }
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

export interface EgressRequestAttempt extends EgressAttempt {
  readonly method: string;
  /** In its normal form (`readRequestTarget`). */
  readonly path: string;
}

/**
 * Whether a connection may be made. A refusal of any scope comes before every permission; of permissions the narrowest
 * counts. A rule without a port is about all of `openPorts`, a refusal without one about every port. A limited
 * permission lets the connection through, a limited refusal does not keep it: `decideRequest` judges what is sent.
 *
 * @param openPorts ports on which a host may be reached whose rule names none.
 * @returns `opened`: a limited rule is about the host, so that nothing passes there unjudged.
 */
export function decideEgress<R extends EgressRuleOf>(
  rules: readonly R[],
  openPorts: ReadonlySet<number>,
  attempt: EgressAttempt,
): EgressVerdict<R> & { readonly opened: boolean } {
  const about = rules.filter((rule) => isAbout(rule, openPorts, attempt));
  const opened = about.some(({ limits }) => limits !== null);
  return { ...decide(about.filter(({ limits, action }) => limits === null || action === 'allow')), opened };
}

/** Whether a request may be sent on a connection that was let through; by the same order of rules. */
export function decideRequest<R extends EgressRuleOf>(
  rules: readonly R[],
  openPorts: ReadonlySet<number>,
  attempt: EgressRequestAttempt,
): EgressVerdict<R> {
  return decide(rules.filter((rule) => isAbout(rule, openPorts, attempt) && isOfRequest(rule, attempt)));
}

/** @param rules all of which are about what is decided. */
function decide<R extends EgressRuleOf>(rules: readonly R[]): EgressVerdict<R> {
  let allowed: R | null = null;
  for (const rule of rules) {
    if (rule.action === 'deny') return { verdict: 'deny', rule };
    if (allowed === null || EGRESS_SCOPES.indexOf(rule.scope) < EGRESS_SCOPES.indexOf(allowed.scope)) allowed = rule;
  }
  return allowed === null ? { verdict: 'unknown' } : { verdict: 'allow', rule: allowed };
}

/** Whether a rule is in force and names the host and port. */
function isAbout(
  { id, pattern, action, endsAt, once, limits }: EgressRuleOf,
  openPorts: ReadonlySet<number>,
  { host, port, now, openedBy }: EgressAttempt,
): boolean {
  const goesOn = once && id === openedBy;
  if ((endsAt !== null && endsAt <= now && !goesOn) || !namesHost(pattern, host)) return false;
  if (limits !== null && port === CLEAR_PORT) return true;
  return pattern.port === null ? action === 'deny' || openPorts.has(port) : pattern.port === port;
}

function isOfRequest({ action, limits }: EgressRuleOf, { method, path }: EgressRequestAttempt): boolean {
  if (limits === null) return true;
  const matches = action === 'deny' ? mayMatchPath : matchesPath;
  return (
    (limits.methods === null || limits.methods.includes(method)) &&
    (limits.paths === null || limits.paths.some((pattern) => matches(pattern, path)))
  );
}
