'use client';
import { type IntegrationProvider, RegisterApp } from '@slipway/contracts/integrations';
import { Button, Field, Input } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { api } from '../../api/client.ts';
import { FormFailure } from '../form/form-failure.tsx';
import { useForm } from '../form/use-form.ts';
import { useSession } from '../session/me.ts';
import { goTo } from './go-to.ts';

/**
 * Begins to register an app of the organization; the provider asks to confirm it, and sends back to the connection that
 * is made.
 */
export function RegisterAppForm({ provider, onClose }: { provider: IntegrationProvider; onClose: () => void }) {
  const t = useTranslations();
  const { org } = useSession();
  const form = useForm({
    initial: {
      name: t('adminIntegrations.slipway', { name: org.name }).slice(0, 34).trim(),
      host: '',
      owner: '',
      baseUrl: '',
    },
    schema: RegisterApp,
    requestOf: ({ name, host, owner, baseUrl }) => ({
      provider: provider.id,
      name,
      ...(host.trim() === '' ? {} : { host: host.trim() }),
      ...(owner.trim() === '' ? {} : { owner: owner.trim() }),
      ...(baseUrl.trim() === '' ? {} : { baseUrl: baseUrl.trim() }),
    }),
    send: (body) => api.registerIntegrationApp({ org: org.id, body }),
    onDone: ({ url }) => goTo(url),
  });
  const input = (field: 'name' | 'host' | 'owner' | 'baseUrl', label: string, hint: string, placeholder = '') => (
    <Field label={label} hint={hint} error={form.error(field)}>
      {(control) => (
        <Input
          {...control}
          value={form.values[field]}
          placeholder={placeholder}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          onChange={(event) => form.set(field, event.target.value)}
        />
      )}
    </Field>
  );
  return (
    <form {...form.props} className="flex flex-col gap-4">
      <p className="text-sm text-ink-muted">{t('adminIntegrations.showsTheAppWithIts', { name: provider.name })}</p>
      {input('name', t('common.name'), t('adminIntegrations.usedForTheAppAnd', { name: provider.name }))}
      {input(
        'owner',
        t('adminIntegrations.organizationAtTheProvider'),
        t('adminIntegrations.itsLoginLeaveEmptyTo'),
        'acme',
      )}
      {input(
        'host',
        t('adminIntegrations.host'),
        t('adminIntegrations.leaveEmptyForForA', { host: provider.host ?? 'none' }),
        provider.host ?? '',
      )}
      <details open={form.error('baseUrl') !== null || undefined} className="rounded-md border border-line px-3">
        <summary className="cursor-pointer py-2 text-sm font-medium">{t('adminIntegrations.moreSettings')}</summary>
        <div className="pb-3">
          {input(
            'baseUrl',
            t('adminIntegrations.baseUrl'),
            t('adminIntegrations.setThisIfTheHostIs'),
            'https://github.example.com',
          )}
        </div>
      </details>
      <FormFailure failure={form.failure} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{t('common.cancel')}</Button>
        <Button type="submit" tone="primary" busy={form.busy}>
          {t('adminIntegrations.createApp', { name: provider.name })}
        </Button>
      </div>
    </form>
  );
}
