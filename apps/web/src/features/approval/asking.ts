import type { ConfirmationMode } from '@slipway/contracts';

/** How often an agent asks, in words. */
export const ASKING: ReadonlyArray<{ value: ConfirmationMode; label: string }> = [
  { value: 'never', label: 'Never' },
  { value: 'risky', label: 'When it is risky, or nobody can tell' },
  { value: 'always', label: 'Before every step' },
];
