import { isDeepStrictEqual } from 'node:util';
import {
  CONFIRMATION_MODES,
  type ConfirmationMode,
  type ConfirmationPolicy,
  type ConfirmationSettings,
  SECURITY_RISKS,
  type SecurityAnalyzer,
} from '@slipway/contracts/conversations';

/**
 * The one that asks more often. An organization's mode is a floor: a conversation may be asked about more, never less.
 */
export function stricterMode(a: ConfirmationMode, b: ConfirmationMode): ConfirmationMode {
  return CONFIRMATION_MODES.indexOf(a) > CONFIRMATION_MODES.indexOf(b) ? a : b;
}

/** Policy of a mode. Unknown risks are asked about, too. */
export function settingsOfMode(mode: ConfirmationMode): Pick<ConfirmationSettings, 'policy' | 'analyzer'> {
  const analyzer: ConfirmationSettings['analyzer'] = {
    kind: 'EnsembleSecurityAnalyzer',
    analyzers: [
      { kind: 'LLMSecurityAnalyzer' },
      { kind: 'PatternSecurityAnalyzer' },
      { kind: 'PolicyRailSecurityAnalyzer' },
    ],
    propagate_unknown: false,
  };
  switch (mode) {
    case 'never':
      return { policy: { kind: 'NeverConfirm' }, analyzer };
    case 'risky':
      return { policy: { kind: 'ConfirmRisky', threshold: 'HIGH', confirm_unknown: true }, analyzer };
    case 'always':
      return { policy: { kind: 'AlwaysConfirm' }, analyzer };
  }
}

type Asking = Pick<ConfirmationSettings, 'policy' | 'analyzer'>;

/** What asks wherever one of the two asks; it may ask more often than both, when they judge risks in different ways. */
export function stricterSettings(a: Asking, b: Asking): Asking {
  if (b.policy.kind === 'NeverConfirm') return { policy: a.policy, analyzer: a.analyzer };
  if (a.policy.kind === 'NeverConfirm') return { policy: b.policy, analyzer: b.analyzer };
  const same = isDeepStrictEqual(a.analyzer, b.analyzer);
  if (!same || a.policy.kind === 'AlwaysConfirm' || b.policy.kind === 'AlwaysConfirm')
    return { policy: { kind: 'AlwaysConfirm' }, analyzer: same ? a.analyzer : worstOf(a.analyzer, b.analyzer) };
  return { policy: lowerThreshold(a.policy, b.policy), analyzer: a.analyzer };
}

type Risky = Extract<ConfirmationPolicy, { kind: 'ConfirmRisky' }>;

function lowerThreshold(a: Risky, b: Risky): Risky {
  const threshold =
    SECURITY_RISKS.indexOf(a.threshold) < SECURITY_RISKS.indexOf(b.threshold) ? a.threshold : b.threshold;
  return { kind: 'ConfirmRisky', threshold, confirm_unknown: a.confirm_unknown || b.confirm_unknown };
}

/** For actions that are always asked about it reports only what no user's rule allows: those rated HIGH. */
function worstOf(a: SecurityAnalyzer | null, b: SecurityAnalyzer | null): SecurityAnalyzer {
  const parts = [b, a].flatMap((analyzer) =>
    analyzer === null ? [] : analyzer.kind === 'EnsembleSecurityAnalyzer' ? analyzer.analyzers : [analyzer],
  );
  const distinct = parts.filter((part, index) => parts.findIndex((other) => isDeepStrictEqual(part, other)) === index);
  return { kind: 'EnsembleSecurityAnalyzer', analyzers: distinct.slice(0, 10), propagate_unknown: false };
}
