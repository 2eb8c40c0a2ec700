'use client';
import { BUDGET_THRESHOLDS } from '@slipway/contracts/spending';
import { Badge, EmptyState, Notice, Section, Table } from '@slipway/ui';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { api } from '../../api/client.ts';
import { Ago } from '../../browser/ago.tsx';
import { money } from '../../browser/format.ts';
import { Page } from '../frame/page.tsx';
import { ListPanel } from '../list/list-panel.tsx';
import { QueryPanel } from '../list/query-panel.tsx';
import { usePages } from '../list/use-pages.ts';
import { useSession } from '../session/me.ts';
import { utcDay } from './budget-words.ts';
import { LimitsForm } from './limits-form.tsx';
import { PeopleTable, Spent } from './people-table.tsx';

export function BudgetsPage() {
  const t = useTranslations();
  const { org } = useSession();
  const queries = useQueryClient();
  const mayChange = org.permissions.includes('budget:write');
  const budgets = useQuery({
    queryKey: ['budgets', org.id],
    queryFn: ({ signal }) => api.getBudgets({ org: org.id, signal }),
  });
  return (
    <Page title={t('common.budgets')} description={t('adminBudgets.monthlyLimitsForModelSpending')}>
      <QueryPanel query={budgets} label={t('adminBudgets.theBudgets')}>
        {(data) => (
          <div className="flex flex-col gap-8">
            {data.org.blocked ? (
              <Notice tone="bad" title={t('adminBudgets.theOrganizationHasUsedIts')}>
                {t('adminBudgets.noOneCanStartOr', { end: utcDay(data.cycle.end) })}
              </Notice>
            ) : null}
            <Section title={t('adminBudgets.limits')}>
              <div className="flex flex-wrap items-end gap-x-6 gap-y-2 text-sm">
                <div>
                  <span className="block text-xs text-ink-muted">{t('adminBudgets.organizationThisMonth')}</span>
                  <Spent spending={data.org} />
                </div>
                <span className="text-xs text-ink-muted">
                  {t('adminBudgets.theNextMonthStartsOn', { end: utcDay(data.cycle.end) })}
                </span>
              </div>
              <LimitsForm
                budgets={data}
                mayChange={mayChange}
                reread={async () => (await budgets.refetch()).data}
                onSaved={(saved) => {
                  queries.setQueryData(['budgets', org.id], saved);
                  void queries.invalidateQueries({ queryKey: ['budget-notices', org.id] });
                }}
              />
            </Section>
            <Section title={t('common.users')}>
              {data.people.length === 0 ? (
                <EmptyState title={t('adminBudgets.noMembersYet')} className="rounded-lg border border-line" />
              ) : (
                <PeopleTable budgets={data} mayChange={mayChange} onChanged={() => void budgets.refetch()} />
              )}
            </Section>
          </div>
        )}
      </QueryPanel>
      <NoticesSection />
    </Page>
  );
}

/** What was sent when shares of the limits were spent. */
function NoticesSection() {
  const t = useTranslations();
  const { org } = useSession();
  const notices = usePages({
    key: ['budget-notices', org.id],
    read: (cursor, signal) => api.listBudgetNotices({ org: org.id, query: cursor, signal }),
  });
  return (
    <Section
      title={t('adminBudgets.notices')}
      description={t('adminBudgets.sentOnceAMonthWhen', {
        most: BUDGET_THRESHOLDS.slice(0, -1).join(', '),
        last: BUDGET_THRESHOLDS.at(-1) ?? '',
      })}
    >
      <ListPanel
        list={notices}
        noun={t('adminBudgets.notices2')}
        empty={<EmptyState title={t('adminBudgets.noNoticesYet')} className="rounded-lg border border-line" />}
      >
        {(rows) => (
          <Table
            label={t('adminBudgets.notices')}
            rows={rows}
            rowKey={(notice) => notice.id}
            columns={[
              {
                label: t('adminBudgets.limitOf'),
                phone: 'title',
                cell: (notice) => notice.user?.label ?? t('adminBudgets.organization'),
              },
              {
                label: t('adminBudgets.share'),
                cell: (notice) => (
                  <Badge tone={notice.threshold === 100 ? 'bad' : notice.threshold >= 80 ? 'warn' : 'neutral'}>
                    {notice.threshold} %
                  </Badge>
                ),
              },
              {
                label: t('adminBudgets.spent'),
                align: 'end',
                cell: (notice) => (
                  <span className="tabular-nums">
                    {t('adminBudgets.of', {
                      spentUsd: money(Number(notice.spentUsd)),
                      limitUsd: money(Number(notice.limitUsd)),
                    })}
                  </span>
                ),
              },
              { label: t('adminBudgets.time'), cell: (notice) => <Ago at={notice.createdAt} /> },
            ]}
          />
        )}
      </ListPanel>
    </Section>
  );
}
