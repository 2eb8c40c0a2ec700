'use client';
import { type Budgets, type BudgetUser, PutBudgetOverride } from '@slipway/contracts/spending';
import { Badge, Button, Dialog, Field, Input, Table } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { money } from '../../browser/format.ts';
import { ErrorNotice, FormFailure } from '../form/form-failure.tsx';
import { useForm } from '../form/use-form.ts';
import { useSession } from '../session/me.ts';
import { spentPercent } from './budget-words.ts';

/** Who has spent how much of what they may, those who spent most first. */
export function PeopleTable({
  budgets,
  mayChange,
  onChanged,
}: {
  budgets: Budgets;
  mayChange: boolean;
  onChanged: () => void;
}) {
  const t = useTranslations();
  const [changing, setChanging] = useState<BudgetUser | null>(null);
  return (
    <>
      <Table
        label={t('adminBudgets.spendingByUser')}
        rows={budgets.people}
        rowKey={(user) => user.user.id}
        columns={[
          {
            label: t('common.user'),
            phone: 'title',
            cell: (user) => <span className="font-medium break-words">{user.user.label}</span>,
          },
          { label: t('adminBudgets.spent'), cell: (user) => <Spent spending={user} /> },
          {
            label: t('adminBudgets.limit'),
            cell: (user) => (
              <span>
                {user.limitUsd === null ? t('common.none') : money(Number(user.limitUsd))}
                {user.source === 'override' ? t('adminBudgets.individual') : ''}
              </span>
            ),
          },
          {
            label: t('common.state'),
            cell: (user) =>
              user.blocked ? (
                <Badge tone="bad">{t('adminBudgets.blocked')}</Badge>
              ) : (
                <Badge tone="ok">{t('adminBudgets.withinBudget')}</Badge>
              ),
          },
          {
            label: t('common.actions'),
            unnamed: true,
            align: 'end',
            phone: 'actions',
            cell: (user) =>
              mayChange ? (
                <Button
                  size="small"
                  aria-label={t('adminBudgets.changeLimitFor', { label: user.user.label })}
                  onClick={() => setChanging(user)}
                >
                  {t('adminBudgets.change')}
                </Button>
              ) : null,
          },
        ]}
      />
      {budgets.more ? <p className="text-xs text-ink-muted">{t('adminBudgets.moreUsersExistThoseWith')}</p> : null}
      <Dialog
        open={changing !== null}
        onOpenChange={(open) => open || setChanging(null)}
        title={t('adminBudgets.limitFor', { label: changing?.user.label ?? '' })}
      >
        {changing === null ? null : (
          <Override
            user={changing}
            onClose={() => setChanging(null)}
            onDone={() => {
              setChanging(null);
              onChanged();
            }}
          />
        )}
      </Dialog>
    </>
  );
}

export function Spent({ spending }: { spending: { readonly spentUsd: string; readonly limitUsd: string | null } }) {
  const percent = spentPercent(spending);
  return (
    <span className="block min-w-24">
      <span className="tabular-nums" title={`$${spending.spentUsd}`}>
        {money(Number(spending.spentUsd))}
      </span>
      {percent === null ? null : (
        <span aria-hidden className="mt-1 block h-1.5 w-full overflow-hidden rounded-full bg-raised">
          <span
            className={`block h-full ${percent >= 100 ? 'bg-bad' : percent >= 80 ? 'bg-warn' : 'bg-accent'}`}
            style={{ width: `${percent}%` }}
          />
        </span>
      )}
    </span>
  );
}

function Override({ user, onClose, onDone }: { user: BudgetUser; onClose: () => void; onDone: () => void }) {
  const t = useTranslations();
  const { org } = useSession();
  const form = useForm({
    initial: { limitUsd: user.limitUsd ?? '' },
    schema: PutBudgetOverride,
    requestOf: ({ limitUsd }) => ({ limitUsd: limitUsd.trim() === '' ? null : limitUsd.trim() }),
    send: (body) => api.putBudgetOverride({ org: org.id, user: user.user.id, body }),
    onDone,
  });
  const inherit = useMutation({
    mutationFn: () => api.deleteBudgetOverride({ org: org.id, user: user.user.id }),
    onSuccess: onDone,
  });
  return (
    <form {...form.props} className="flex flex-col gap-4 p-4">
      <Field
        label={t('adminBudgets.budgetPerMonthUsd')}
        hint={t('adminBudgets.leaveEmptyForNoIndividualLimit')}
        error={form.error('limitUsd')}
      >
        {(control) => (
          <Input
            {...control}
            inputMode="decimal"
            value={form.values.limitUsd}
            placeholder={t('adminBudgets.noLimit')}
            onChange={(event) => form.set('limitUsd', event.target.value)}
          />
        )}
      </Field>
      <FormFailure failure={form.failure} />
      <ErrorNotice error={inherit.error} />
      <div className="flex flex-wrap justify-end gap-2">
        {user.source === 'override' ? (
          <Button busy={inherit.isPending} onClick={() => inherit.mutate()}>
            {t('adminBudgets.useDefault')}
          </Button>
        ) : null}
        <Button onClick={onClose}>{t('common.cancel')}</Button>
        <Button type="submit" tone="primary" busy={form.busy}>
          {t('common.save')}
        </Button>
      </div>
    </form>
  );
}
