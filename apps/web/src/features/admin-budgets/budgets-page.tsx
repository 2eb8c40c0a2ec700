'use client';
import { BUDGET_THRESHOLDS } from '@slipway/contracts';
import { Badge, EmptyState, Notice, Section, Table } from '@slipway/ui';
import { useQuery, useQueryClient } from '@tanstack/react-query';
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
  const { org } = useSession();
  const queries = useQueryClient();
  const mayChange = org.permissions.includes('budget:write');
  const budgets = useQuery({ queryKey: ['budgets', org.id], queryFn: ({ signal }) => api.getBudgets({ org: org.id, signal }) });
  const notices = usePages({ key: ['budget-notices', org.id], read: (cursor, signal) => api.listBudgetNotices({ org: org.id, query: cursor, signal }) });
  return (
    <Page
      title="Budgets"
      description="What may be spent on models in a month. Whoever has spent it can start nothing new, and what runs halts at its next call; nothing is lost."
    >
      <QueryPanel query={budgets} label="The budgets">
        {(data) => (
          <div className="flex flex-col gap-8">
            {data.org.blocked ? (
              <Notice tone="bad" title="The organization has spent its budget.">
                Nobody can start or go on until {utcDay(data.cycle.end)}, or until the limit is raised.
              </Notice>
            ) : null}
            <Section title="Limits">
              <div className="flex flex-wrap items-end gap-x-6 gap-y-2 text-sm">
                <div>
                  <span className="block text-xs text-ink-muted">The organization, in this month</span>
                  <Spent spending={data.org} />
                </div>
                <span className="text-xs text-ink-muted">The next month begins on {utcDay(data.cycle.end)}.</span>
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
            <Section title="People">
              {data.people.length === 0 ? (
                <EmptyState title="Nobody is here yet" className="rounded-lg border border-line" />
              ) : (
                <PeopleTable budgets={data} mayChange={mayChange} onChanged={() => void budgets.refetch()} />
              )}
            </Section>
          </div>
        )}
      </QueryPanel>
      <Section
        title="Notices"
        description={`Told once a month each, at ${BUDGET_THRESHOLDS.slice(0, -1).join(', ')} and ${BUDGET_THRESHOLDS.at(-1)} % of a limit.`}
      >
        <ListPanel list={notices} noun="notices" empty={<EmptyState title="No limit has been half spent yet" className="rounded-lg border border-line" />}>
          {(rows) => (
            <Table
              label="Notices"
              rows={rows}
              rowKey={(notice) => notice.id}
              columns={[
                { label: 'Whose', phone: 'title', cell: (notice) => notice.user?.label ?? 'The organization' },
                {
                  label: 'Share',
                  cell: (notice) => <Badge tone={notice.threshold === 100 ? 'bad' : notice.threshold >= 80 ? 'warn' : 'neutral'}>{notice.threshold} %</Badge>,
                },
                {
                  label: 'Spent',
                  align: 'end',
                  cell: (notice) => <span className="tabular-nums">{`${money(Number(notice.spentUsd))} of ${money(Number(notice.limitUsd))}`}</span>,
                },
                { label: 'When', cell: (notice) => <Ago at={notice.createdAt} /> },
              ]}
            />
          )}
        </ListPanel>
      </Section>
    </Page>
  );
}
