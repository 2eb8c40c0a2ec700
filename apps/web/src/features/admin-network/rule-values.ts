import { type EgressRule, READ_METHODS } from '@slipway/contracts/sandboxes';

/** The fields of a rule that limit it to some requests. */
export interface LimitValues {
  readonly methods: 'all' | 'read' | 'chosen';
  readonly chosen: readonly string[];
  /** One a line; empty: every path. */
  readonly paths: string;
  readonly foreign: 'refuse' | 'allow';
  readonly websocket: boolean;
}

export const NO_LIMITS: LimitValues = { methods: 'all', chosen: [], paths: '', foreign: 'refuse', websocket: false };

/** As the API wants them; nothing for a rule that is about connections as a whole. */
export function limitsOf({ methods, chosen, paths, foreign, websocket }: LimitValues, action: string): object {
  const named = methods === 'all' ? undefined : methods === 'read' ? READ_METHODS : chosen;
  const lines = paths.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
  if (named === undefined && lines.length === 0) return {};
  return {
    ...(named === undefined ? {} : { methods: named }),
    ...(lines.length === 0 ? {} : { paths: lines }),
    ...(action === 'allow' ? { foreign, ...(websocket ? { websocket } : {}) } : {}),
  };
}

/** Which requests a rule is about. */
export type RuleRequests = 'all' | 'read' | 'some';

/** An older server says nothing of limits. */
export function requestsOf(rule: Pick<EgressRule, 'methods' | 'paths'>): RuleRequests {
  const [methods, paths] = [rule.methods ?? null, rule.paths ?? null];
  if (methods === null && paths === null) return 'all';
  const reads = methods?.length === READ_METHODS.length && READ_METHODS.every((method) => methods.includes(method));
  return reads && paths === null ? 'read' : 'some';
}
