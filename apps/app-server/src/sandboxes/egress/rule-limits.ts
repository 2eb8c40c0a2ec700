import type { CreateEgressRule } from '@slipway/contracts/sandboxes';
import { SlipwayError } from '@slipway/errors';
import { type HostPattern, isName } from '@slipway/net';

/** The requests that a limited rule is about. */
export interface RuleLimits {
  readonly methods: NonNullable<CreateEgressRule['methods']> | null;
  readonly paths: readonly string[] | null;
  /** `null`: of a refusal. */
  readonly foreign: 'refuse' | 'allow' | null;
  readonly websocket: boolean;
}

/** @returns `null` for a rule that is about connections as a whole. */
export function limitsOf({
  action,
  methods,
  paths,
  foreign,
  websocket,
}: {
  readonly action?: 'allow' | 'deny' | undefined;
  readonly methods?: RuleLimits['methods'] | undefined;
  readonly paths?: readonly string[] | null | undefined;
  readonly foreign?: 'refuse' | 'allow' | null | undefined;
  readonly websocket?: boolean | undefined;
}): RuleLimits | null {
  if (methods == null && paths == null && foreign == null && websocket !== true) return null;
  return {
    methods: methods ?? null,
    paths: paths ?? null,
    foreign: action === 'deny' ? null : (foreign ?? 'refuse'),
    websocket: websocket === true,
  };
}

/**
 * Whether requests to the host can be judged here.
 * @throws SlipwayError `egress.no-broker`; `request.invalid` for an address and for port 80.
 */
export function assertJudged(limits: RuleLimits | null, { host, port }: HostPattern, hasBroker: boolean): void {
  if (limits === null) return;
  if (!hasBroker)
    throw new SlipwayError(
      'egress.no-broker',
      'Methods and paths are seen only by credential-broker, which this installation does not run.',
    );
  const message = !isName(host)
    ? 'is an address: requests are judged at hosts with a name'
    : port === 80
      ? 'has port 80: requests are judged over https alone'
      : null;
  if (message !== null)
    throw new SlipwayError('request.invalid', `host: ${message}`, { fields: [{ path: 'host', message }] });
}
