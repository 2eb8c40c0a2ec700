import type { IntegrationProvider } from '@slipway/contracts/integrations';
import { Notice } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { limitsOf } from './setup-steps.ts';

/** What does not work with a provider yet, before and after it is connected. */
export function LimitsNotice({ provider }: { provider: IntegrationProvider }) {
  const t = useTranslations();
  const limits = limitsOf(t, provider);
  return limits.length === 0 ? null : (
    <Notice title={t('adminIntegrations.notEverythingWorksWithYet', { name: provider.name })}>
      {limits.join(' ')}
    </Notice>
  );
}
