'use client';
import type { IntegrationProvider } from '@slipway/contracts/integrations';
import { Button } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { api } from '../../api/client.ts';
import { ErrorNotice } from '../form/form-failure.tsx';
import { useSession } from '../session/me.ts';
import { goTo } from './go-to.ts';

/** Installs the app that the operator has registered. */
export function PlatformAppForm({ provider, onClose }: { provider: IntegrationProvider; onClose: () => void }) {
  const t = useTranslations();
  const { org } = useSession();
  const begin = useMutation({
    mutationFn: () => api.installPlatformApp({ org: org.id, body: { provider: provider.id } }),
    onSuccess: ({ url }) => goTo(url),
  });
  return (
    <div className="flex flex-col gap-4">
      <p className="text-sm text-ink-muted">
        {t('adminIntegrations.asksWhichAccountAndRepositories', { name: provider.name })}
      </p>
      <ErrorNotice error={begin.error} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{t('common.cancel')}</Button>
        <Button tone="primary" busy={begin.isPending} onClick={() => begin.mutate()}>
          {t('adminIntegrations.installApp', { name: provider.name })}
        </Button>
      </div>
    </div>
  );
}
