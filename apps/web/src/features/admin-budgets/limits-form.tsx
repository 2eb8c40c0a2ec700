'use client';
import { type Budgets, ChangeBudgets, Money } from '@slipway/contracts/spending';
import { Button, Checkbox, Field, Input, Notice, Select } from '@slipway/ui';
import { useQuery } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { useDeferredValue } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { useVersionedForm } from '../form/use-versioned-form.ts';
import { VersionedFailure } from '../form/versioned-failure.tsx';
import { useSession } from '../session/me.ts';
import { previewWords } from './budget-words.ts';

const RESET_DAYS = Array.from({ length: 28 }, (_, index) => index + 1);

interface Values {
  enabled: boolean;
  resetDay: string;
  orgLimitUsd: string;
  memberLimitUsd: string;
  allowUnpriced: boolean;
}
const valuesOf = (budgets: Budgets): Values => ({
  enabled: budgets.enabled,
  resetDay: String(budgets.resetDay),
  orgLimitUsd: budgets.orgLimitUsd ?? '',
  memberLimitUsd: budgets.memberLimitUsd ?? '',
  allowUnpriced: budgets.allowUnpriced,
});
const limitOf = (typed: string): string | null => (typed.trim() === '' ? null : typed.trim());

/** The limits of everybody. An empty amount is no limit. */
export function LimitsForm({
  budgets,
  mayChange,
  reread,
  onSaved,
}: {
  budgets: Budgets;
  mayChange: boolean;
  reread: () => Promise<Budgets | undefined>;
  onSaved: (budgets: Budgets) => void;
}) {
  const t = useTranslations();
  const { org } = useSession();
  const form = useVersionedForm({
    latest: budgets,
    valuesOf,
    schema: ChangeBudgets,
    requestOf: (values) => ({
      enabled: values.enabled,
      resetDay: Number(values.resetDay),
      orgLimitUsd: limitOf(values.orgLimitUsd),
      memberLimitUsd: limitOf(values.memberLimitUsd),
      allowUnpriced: values.allowUnpriced,
    }),
    send: (body, version) => api.changeBudgets({ org: org.id, body, ifMatch: version }),
    onDone: (saved) => {
      toast(t('adminBudgets.budgetsSaved'));
      onSaved(saved);
    },
  });
  const { values, changed } = form;
  return (
    <form {...form.props} className="flex max-w-xl flex-col gap-4">
      <Checkbox
        label={t('adminBudgets.enforceBudgets')}
        hint={t('adminBudgets.whenOffSpendingIsTracked')}
        checked={values.enabled}
        disabled={!mayChange}
        onChange={(enabled) => form.set('enabled', enabled)}
      />
      <Checkbox
        label={t('adminBudgets.allowModelsWithoutAPrice')}
        hint={t('adminBudgets.theirCallsCountTowardNo')}
        checked={values.allowUnpriced}
        disabled={!mayChange}
        onChange={(allowUnpriced) => form.set('allowUnpriced', allowUnpriced)}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <AmountField
          label={t('adminBudgets.organizationPerMonthUsd')}
          hint={t('adminBudgets.leaveEmptyForNoLimit')}
          error={form.error('orgLimitUsd')}
          disabled={!mayChange}
          amount={values.orgLimitUsd}
          onChange={(amount) => form.set('orgLimitUsd', amount)}
        />
        <AmountField
          label={t('adminBudgets.eachMemberPerMonthUsd')}
          hint={t('adminBudgets.leaveEmptyForNoIndividual')}
          error={form.error('memberLimitUsd')}
          disabled={!mayChange}
          amount={values.memberLimitUsd}
          onChange={(amount) => form.set('memberLimitUsd', amount)}
        />
      </div>
      <Field label={t('adminBudgets.monthStartsOn')} error={form.error('resetDay')}>
        {(control) => (
          <Select
            {...control}
            disabled={!mayChange}
            options={RESET_DAYS.map((day) => ({
              value: String(day),
              label: t('adminBudgets.onDayOfTheMonth', { day }),
            }))}
            value={values.resetDay}
            onChange={(resetDay) => form.set('resetDay', resetDay)}
          />
        )}
      </Field>
      {mayChange && changed ? <Preview values={values} /> : null}
      <VersionedFailure
        failure={form.failure}
        what={t('adminBudgets.theBudgets2')}
        reread={() => void reread().then((read) => read && form.take(read))}
      />
      {mayChange ? (
        <div className="flex gap-2">
          <Button type="submit" tone="primary" busy={form.busy} disabled={!changed}>
            {t('common.save')}
          </Button>
          {changed ? <Button onClick={() => form.take(budgets)}>{t('adminBudgets.discardChanges')}</Button> : null}
        </div>
      ) : null}
    </form>
  );
}

function AmountField({
  label,
  hint,
  error,
  disabled,
  amount,
  onChange,
}: {
  label: string;
  hint: string;
  error: string | null;
  disabled: boolean;
  amount: string;
  onChange: (amount: string) => void;
}) {
  const t = useTranslations();
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => (
        <Input
          {...control}
          inputMode="decimal"
          disabled={disabled}
          value={amount}
          placeholder={t('adminBudgets.noLimit')}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

/** What saving would do now. Nothing while what is typed is no amount yet. */
function Preview({ values }: { values: Values }) {
  const t = useTranslations();
  const { org } = useSession();
  const asked = useDeferredValue(values);
  const [orgLimit, memberLimit] = [limitOf(asked.orgLimitUsd), limitOf(asked.memberLimitUsd)];
  const sound = [orgLimit, memberLimit].every((limit) => limit === null || Money.safeParse(limit).success);
  const preview = useQuery({
    queryKey: ['budget-preview', org.id, asked],
    queryFn: ({ signal }) =>
      api.previewBudgets({
        org: org.id,
        query: {
          enabled: asked.enabled ? 'true' : 'false',
          resetDay: Number(asked.resetDay),
          orgLimitUsd: orgLimit ?? 'none',
          memberLimitUsd: memberLimit ?? 'none',
        },
        signal,
      }),
    enabled: sound,
  });
  if (!sound || preview.data === undefined) return null;
  const { tone, title, names } = previewWords(t, preview.data);
  return (
    <Notice tone={tone} title={title}>
      {names === '' ? null : <p>{names}</p>}
    </Notice>
  );
}
