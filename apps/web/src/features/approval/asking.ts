import type { ConfirmationMode } from '@slipway/contracts/conversations';
import type { MessageKey } from '../../messages/translate.ts';

/** How often an agent asks, in words. */
export const ASKING: ReadonlyArray<{ value: ConfirmationMode; label: MessageKey }> = [
  { value: 'never', label: 'approval.never' },
  { value: 'risky', label: 'approval.whenRiskyOrUnknown' },
  { value: 'always', label: 'approval.beforeEveryStep' },
];
