import { CONFIRMATION_MODES, type ConfirmationMode, type ConfirmationSettings } from '@slipway/contracts';

/** The one that asks more often. An organization's mode is a floor: a conversation may be asked about more, never less. */
export function stricterMode(a: ConfirmationMode, b: ConfirmationMode): ConfirmationMode {
  return CONFIRMATION_MODES.indexOf(a) > CONFIRMATION_MODES.indexOf(b) ? a : b;
}

/** What a mode is for the agent. What nobody can judge is asked for, too. */
export function settingsOfMode(mode: ConfirmationMode): Pick<ConfirmationSettings, 'policy' | 'analyzer'> {
  const analyzer: ConfirmationSettings['analyzer'] = {
    kind: 'EnsembleSecurityAnalyzer',
    analyzers: [{ kind: 'LLMSecurityAnalyzer' }, { kind: 'PatternSecurityAnalyzer' }, { kind: 'PolicyRailSecurityAnalyzer' }],
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
