'use client';
import { type HookSelection, SelectIntegrationHooks } from '@slipway/contracts/integrations';
import { Button, Field, Textarea } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { api } from '../../api/client.ts';
import { asAgo } from '../../browser/ago.tsx';
import { FormFailure } from '../form/form-failure.tsx';
import { useForm } from '../form/use-form.ts';
import { listOf } from './connection-values.ts';

interface Props {
  readonly where: { readonly org: string; readonly connection: string };
  readonly selection: HookSelection;
  readonly onDone: (said: string) => void;
}

/** Which repositories get a webhook by themselves: all, by pattern, or by name. */
export function HookSelectionForm({ where, selection, onDone }: Props) {
  const t = useTranslations();
  const form = useForm({
    initial: { patterns: selection.patterns.join('\n') },
    schema: SelectIntegrationHooks,
    requestOf: ({ patterns }) => ({ patterns: listOf(patterns) }),
    send: (body) => api.selectIntegrationHooks({ ...where, body }),
    onDone: (_list, { patterns }) =>
      onDone(
        patterns.length === 0
          ? t('adminIntegrations.noRepositoriesAreSelected')
          : t('adminIntegrations.creatingWebhooks'),
      ),
  });
  return (
    <form {...form.props} className="flex flex-col gap-2">
      <Field
        label={t('adminIntegrations.repositoriesWithAWebhook')}
        hint={t('adminIntegrations.onePerLineOwnerName')}
        error={form.error('patterns')}
      >
        {(control) => (
          <Textarea
            {...control}
            rows={3}
            spellCheck={false}
            placeholder={t('adminIntegrations.acmeAcmeWebShop')}
            value={form.values.patterns}
            onChange={(event) => form.set('patterns', event.target.value)}
          />
        )}
      </Field>
      <div className="flex flex-wrap items-center gap-2">
        <Button type="submit" tone="primary" busy={form.busy}>
          {t('adminIntegrations.saveSelection')}
        </Button>
        <Button onClick={() => form.set('patterns', '**')}>{t('adminIntegrations.allRepositories')}</Button>
        {selection.listedAt === null ? null : (
          <span className="text-sm text-ink-muted">
            {t.rich('adminIntegrations.checked3', { listedAt: selection.listedAt, ago: asAgo })}
          </span>
        )}
      </div>
      {selection.problem === null ? null : <p className="text-sm text-warn">{selection.problem}</p>}
      <FormFailure failure={form.failure} />
    </form>
  );
}
