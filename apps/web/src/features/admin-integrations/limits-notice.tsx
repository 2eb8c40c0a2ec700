import type { IntegrationProvider } from '@slipway/contracts';
import { Notice } from '@slipway/ui';
import { limitsOf } from './setup-steps.ts';

/** What does not work with a provider yet, before and after it is connected. */
export function LimitsNotice({ provider }: { provider: IntegrationProvider }) {
  const limits = limitsOf(provider);
  return limits.length === 0 ? null : <Notice title={`Not everything works with ${provider.name} yet`}>{limits.join(' ')}</Notice>;
}
