import { describe, expect, it } from '@jest/globals';
import {
  type ConfirmationPolicy,
  type ConfirmationSettings,
  SECURITY_RISKS,
  type SecurityAnalyzer,
  type SecurityRisk,
} from '@slipway/contracts/conversations';
import fc from 'fast-check';
import { stricterSettings } from './confirmation-mode.js';

const policies = fc.oneof(
  fc.constant<ConfirmationPolicy>({ kind: 'NeverConfirm' }),
  fc.constant<ConfirmationPolicy>({ kind: 'AlwaysConfirm' }),
  fc.record({
    kind: fc.constant('ConfirmRisky' as const),
    threshold: fc.constantFrom('LOW' as const, 'MEDIUM' as const, 'HIGH' as const),
    confirm_unknown: fc.boolean(),
  }),
);
const single = fc
  .constantFrom(
    'LLMSecurityAnalyzer' as const,
    'PatternSecurityAnalyzer' as const,
    'PolicyRailSecurityAnalyzer' as const,
  )
  .map((kind) => ({ kind }));
const analyzers: fc.Arbitrary<SecurityAnalyzer | null> = fc.oneof(
  fc.constant(null),
  single,
  fc.record({
    kind: fc.constant('EnsembleSecurityAnalyzer' as const),
    analyzers: fc.array(single, { minLength: 1, maxLength: 10 }),
    propagate_unknown: fc.boolean(),
  }),
);
const settings = fc.record({ policy: policies, analyzer: analyzers });

function asks(policy: ConfirmationPolicy, risk: SecurityRisk): boolean {
  if (policy.kind !== 'ConfirmRisky') return policy.kind === 'AlwaysConfirm';
  return risk === 'UNKNOWN'
    ? policy.confirm_unknown
    : SECURITY_RISKS.indexOf(risk) >= SECURITY_RISKS.indexOf(policy.threshold);
}

type Asking = Pick<ConfirmationSettings, 'policy' | 'analyzer'>;

describe('the stricter of two ways to ask', () => {
  it('asks wherever one of them asks, whatever each of them takes the risk for', () => {
    const risk = fc.constantFrom(...SECURITY_RISKS);
    fc.assert(
      fc.property(settings, settings, risk, risk, risk, (a, b, ofA, ofB, ofOther) => {
        const both: Asking = stricterSettings(a, b);
        const same = (other: Asking): boolean => JSON.stringify(other.analyzer) === JSON.stringify(both.analyzer);
        const judged = JSON.stringify(a.analyzer) === JSON.stringify(b.analyzer) ? ofA : null;
        const risks = { a: ofA, b: judged ?? ofB };
        const ofBoth = same(a) ? risks.a : same(b) ? risks.b : ofOther;
        if (asks(a.policy, risks.a) || asks(b.policy, risks.b)) expect(asks(both.policy, ofBoth)).toBe(true);
      }),
    );
  });

  it('is the one of them that asks when the other never does', () => {
    fc.assert(
      fc.property(settings, analyzers, (one, analyzer) => {
        const never: Asking = { policy: { kind: 'NeverConfirm' }, analyzer };
        expect(stricterSettings(one, never)).toEqual(one);
        if (one.policy.kind !== 'NeverConfirm') expect(stricterSettings(never, one)).toEqual(one);
      }),
    );
  });
});
