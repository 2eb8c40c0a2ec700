'use client';
import type { Usage, UsageRow } from '@slipway/contracts/spending';
import { Card, EmptyState, Notice, Select, Table } from '@slipway/ui';
import { useQuery } from '@tanstack/react-query';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { useAddressValue } from '../../browser/address.ts';
import { asAgo } from '../../browser/ago.tsx';
import { money, number, repositoryName, shortNumber } from '../../browser/format.ts';
import { translated } from '../../messages/translate.ts';
import { Page } from '../frame/page.tsx';
import { QueryPanel } from '../list/query-panel.tsx';
import { useSession } from '../session/me.ts';
import { CsvButton } from './csv-button.tsx';
import { DayBars } from './day-bars.tsx';
import { filtersOf, GROUPS, SPANS, spanOf, type UsageFilters } from './usage-filters.ts';

export function UsagePage() {
  const t = useTranslations();
  const { org } = useSession();
  const [daysAsked, setDays] = useAddressValue('days');
  const [byAsked, setBy] = useAddressValue('by');
  const { days, by } = filtersOf(daysAsked, byAsked);
  // The days of one visit: a page that is open over midnight goes on with what it shows.
  const [now] = useState(() => Date.now());
  const span = spanOf(days, now);
  const read = (groupBy: string) => ({
    queryKey: ['usage', org.id, span.from, span.to, groupBy],
    queryFn: ({ signal }: { signal: AbortSignal }) =>
      api.getUsage({ org: org.id, query: { ...span, groupBy }, signal }),
  });
  const daily = useQuery(read('day'));
  const grouped = useQuery(read(by));
  return (
    <Page
      title={t('common.usage')}
      description={t('adminUsage.modelCallsMadeByAgents')}
      action={<CsvButton orgId={org.id} span={span} by={by} />}
    >
      <div className="flex flex-wrap gap-3">
        <Select
          aria-label={t('adminUsage.period')}
          className="w-40"
          value={String(days)}
          options={[...new Set<number>([...SPANS, days])]
            .sort((a, b) => a - b)
            .map((each) => ({ value: String(each), label: t('adminUsage.lastDays', { each }) }))}
          onChange={(value) => setDays(value === '30' ? null : value, 'push')}
        />
        <Select
          aria-label={t('adminUsage.groupBy')}
          className="w-40"
          value={by}
          options={translated(t, GROUPS)}
          onChange={(value) => setBy(value === 'user' ? null : value, 'push')}
        />
      </div>
      <QueryPanel query={daily} label={t('adminUsage.usageByDay')}>
        {(usage) =>
          usage.total.requests === 0 ? (
            <EmptyState title={t('adminUsage.noModelCallsInThis')} className="rounded-lg border border-line">
              {t('adminUsage.callsAppearHereWithinSeconds')}
            </EmptyState>
          ) : (
            <>
              <Totals usage={usage} />
              <DayBars rows={usage.data} from={usage.from} to={usage.to} />
            </>
          )
        }
      </QueryPanel>
      {/* Two panels would say the same of nothing, or of the same failure. */}
      {daily.data?.total.requests === 0 || (daily.isError && daily.data === undefined) ? null : (
        <QueryPanel query={grouped} label={t('adminUsage.usageInGroups')}>
          {(usage) => <Grouped usage={usage} by={by} orgSlug={org.slug} />}
        </QueryPanel>
      )}
    </Page>
  );
}

function Totals({ usage: { total, asOf } }: { usage: Usage }) {
  const t = useTranslations();
  const figures = [
    { label: t('common.cost'), value: money(Number(total.costUsd)), exact: `$${total.costUsd}` },
    {
      label: t('adminUsage.modelCalls'),
      value: number(total.requests),
      exact: total.failed === 0 ? t('adminUsage.noneFailed') : t('adminUsage.failed', { failed: number(total.failed) }),
    },
    {
      label: t('adminUsage.tokensIn'),
      value: shortNumber(total.promptTokens),
      exact: t('adminUsage.fromCache', {
        promptTokens: number(total.promptTokens),
        cachedTokens: number(total.cachedTokens),
      }),
    },
    {
      label: t('adminUsage.tokensOut'),
      value: shortNumber(total.completionTokens),
      exact: number(total.completionTokens),
    },
  ];
  return (
    <div className="flex flex-col gap-2">
      <dl className="grid grid-cols-2 gap-3 md:grid-cols-4">
        {figures.map(({ label, value, exact }) => (
          <Card key={label} className="px-4 py-3">
            <dt className="text-xs text-ink-muted">{label}</dt>
            <dd className="text-xl font-semibold tabular-nums" title={exact}>
              {value}
            </dd>
          </Card>
        ))}
      </dl>
      {total.unpriced > 0 ? (
        <Notice tone="warn" title={t('adminUsage.callsUsedModelsWithoutA', { unpriced: number(total.unpriced) })} />
      ) : null}
      <p className="text-xs text-ink-muted">
        {asOf === null ? t('adminUsage.notUpdatedYet') : t.rich('adminUsage.updated', { asOf, ago: asAgo })}
      </p>
    </div>
  );
}

function Grouped({ usage, by, orgSlug }: { usage: Usage; by: UsageFilters['by']; orgSlug: string }) {
  const t = useTranslations();
  return (
    <div className="flex flex-col gap-2">
      <Table
        label={t('adminUsage.usageInGroups')}
        rows={usage.data}
        rowKey={(row) =>
          `${row.user?.id ?? ''} ${row.repository ?? ''} ${row.model ?? ''} ${row.conversation?.id ?? ''}`
        }
        columns={[
          {
            label: {
              user: t('common.user'),
              repository: t('common.repository'),
              model: t('common.model'),
              conversation: t('common.conversation'),
            }[by],
            phone: 'title',
            cell: (row) => <Group row={row} by={by} orgSlug={orgSlug} />,
          },
          {
            label: t('common.cost'),
            align: 'end',
            cell: (row) => (
              <span className="tabular-nums" title={`$${row.costUsd}`}>
                {money(Number(row.costUsd))}
              </span>
            ),
          },
          {
            label: t('adminUsage.calls'),
            align: 'end',
            cell: (row) => <span className="tabular-nums">{number(row.requests)}</span>,
          },
          {
            label: t('common.failed'),
            align: 'end',
            phone: 'hidden',
            cell: (row) => <span className="tabular-nums">{number(row.failed)}</span>,
          },
          {
            label: t('adminUsage.tokensIn'),
            align: 'end',
            cell: (row) => (
              <span className="tabular-nums" title={number(row.promptTokens)}>
                {shortNumber(row.promptTokens)}
              </span>
            ),
          },
          {
            label: t('adminUsage.tokensOut'),
            align: 'end',
            cell: (row) => (
              <span className="tabular-nums" title={number(row.completionTokens)}>
                {shortNumber(row.completionTokens)}
              </span>
            ),
          },
        ]}
      />
      {usage.more ? <p className="text-xs text-ink-muted">{t('adminUsage.moreEntriesExistTheLeast')}</p> : null}
    </div>
  );
}

/** The name of a row, with the way to the conversations behind it. */
function Group({ row, by, orgSlug }: { row: UsageRow; by: UsageFilters['by']; orgSlug: string }) {
  const t = useTranslations();
  if (by === 'conversation') return <ConversationGroup row={row} orgSlug={orgSlug} />;
  const groups: Readonly<
    Record<Exclude<UsageFilters['by'], 'conversation'>, readonly [string, Readonly<Record<string, string>>]>
  > = {
    user: [row.user?.label ?? '—', { owner: row.user?.id ?? '' }],
    repository: [
      row.repository === null ? t('adminUsage.noRepository') : repositoryName(row.repository),
      { repository: row.repository ?? '' },
    ],
    model: [row.model ?? '—', { model: row.model ?? '' }],
  };
  const [words, query] = groups[by];
  return (
    <Link
      href={`/${orgSlug}/conversations?${new URLSearchParams(query)}`}
      className="inline-block py-0.5 touch:py-3 break-all hover:underline"
    >
      {words}
    </Link>
  );
}

/** Its title, with the way to it while it is there. */
function ConversationGroup({ row: { conversation }, orgSlug }: { row: UsageRow; orgSlug: string }) {
  const t = useTranslations();
  if (conversation === null)
    return <span className="text-ink-muted">{t('adminUsage.beforeTrackingByConversation')}</span>;
  if (conversation.title === null) return <span className="text-ink-muted">{t('adminUsage.deletedConversation')}</span>;
  return (
    <Link
      href={`/${orgSlug}/conversations/${conversation.id}`}
      className="inline-block py-0.5 touch:py-3 break-all hover:underline"
    >
      {conversation.title}
    </Link>
  );
}
