'use client';
import type { OrgSettings } from '@slipway/contracts/organizations';
import { Field, Input } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { OrgSettingsForm } from '../form/org-settings-form.tsx';

const BUDGETS = ['egressDailyMb', 'egressDailyMbPerHost'] as const;
type Values = Record<(typeof BUDGETS)[number], string>;

const valuesOf = (settings: OrgSettings): Values => ({
  egressDailyMb: settings.egressDailyMb?.toString() ?? '',
  egressDailyMbPerHost: settings.egressDailyMbPerHost?.toString() ?? '',
});
const megabytesOf = (typed: string): number | null => (typed.trim() === '' ? null : Number(typed));

/** What the sandbox of one conversation may send on a day. */
export function EgressBudget() {
  const t = useTranslations();
  return (
    <OrgSettingsForm
      title={t('adminNetwork.egressBudget')}
      description={t('adminNetwork.egressBudgetDescription')}
      saved={t('adminNetwork.budgetSaved')}
      valuesOf={valuesOf}
      requestOf={(values) => ({
        egressDailyMb: megabytesOf(values.egressDailyMb),
        egressDailyMbPerHost: megabytesOf(values.egressDailyMbPerHost),
      })}
    >
      {(form, mayChange) => (
        <div className="grid gap-4 sm:grid-cols-2">
          {BUDGETS.map((name) => (
            <Field
              key={name}
              label={t(name === 'egressDailyMb' ? 'adminNetwork.toAllHosts' : 'adminNetwork.toOneDomain')}
              hint={t(name === 'egressDailyMb' ? 'adminNetwork.emptyIsNoLimit' : 'adminNetwork.toOneDomainHint')}
              error={form.error(name)}
            >
              {(control) => (
                <Input
                  {...control}
                  inputMode="numeric"
                  disabled={!mayChange}
                  value={form.values[name]}
                  placeholder={t('adminNetwork.noLimit')}
                  onChange={(event) => form.set(name, event.target.value)}
                />
              )}
            </Field>
          ))}
        </div>
      )}
    </OrgSettingsForm>
  );
}
