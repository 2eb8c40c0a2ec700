'use client';
import { type EgressTopHost, MAX_TOP_HOSTS, OTHER_HOSTS } from '@slipway/contracts/sandboxes';
import { type Column, EmptyState, Section, Table } from '@slipway/ui';
import { useQuery } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { api } from '../../api/client.ts';
import { Ago } from '../../browser/ago.tsx';
import { bytes, number } from '../../browser/format.ts';
import { hostText } from '../egress/egress-words.ts';
import { QueryPanel } from '../list/query-panel.tsx';
import { useSession } from '../session/me.ts';

/** Where the organization's sandboxes sent the most in the last 30 days. */
export function TopHosts() {
  const t = useTranslations();
  const { org } = useSession();
  const hosts = useQuery({
    queryKey: ['egress-top-hosts', org.id],
    queryFn: ({ signal }) => api.listTopHosts({ org: org.id, signal }),
  });
  return (
    <Section title={t('adminNetwork.topHosts')} description={t('adminNetwork.topHostsDescription')}>
      <QueryPanel query={hosts} label={t('adminNetwork.theTopHosts')}>
        {(top) =>
          top.data.length === 0 ? (
            <EmptyState title={t('adminNetwork.noTraffic')} className="rounded-lg border border-line">
              {t('adminNetwork.noTrafficYet')}
            </EmptyState>
          ) : (
            <div className="flex flex-col gap-2">
              <p className="text-sm tabular-nums">
                {t('adminNetwork.sentInAll', {
                  sent: bytes(top.bytesOut),
                  received: bytes(top.bytesIn),
                  hosts: top.hosts,
                  count: number(top.hosts),
                })}
              </p>
              <HostTable hosts={top.data} />
              {top.hosts <= MAX_TOP_HOSTS ? null : (
                <p className="text-xs text-ink-muted">{t('adminNetwork.onlyTheTop', { count: MAX_TOP_HOSTS })}</p>
              )}
            </div>
          )
        }
      </QueryPanel>
    </Section>
  );
}

function HostTable({ hosts }: { hosts: readonly EgressTopHost[] }) {
  const t = useTranslations();
  const columns: Column<EgressTopHost>[] = [
    {
      label: t('adminNetwork.host'),
      phone: 'title',
      className: 'md:max-w-64',
      cell: (host) => (
        <bdi dir="ltr" className="font-mono text-xs font-medium break-all">
          {host.host === OTHER_HOSTS ? t('adminNetwork.allOtherHosts') : hostText(host)}
        </bdi>
      ),
    },
    { label: t('adminNetwork.sent'), align: 'end', cell: ({ bytesOut }) => bytes(bytesOut) },
    { label: t('adminNetwork.received'), align: 'end', cell: ({ bytesIn }) => bytes(bytesIn) },
    { label: t('adminNetwork.connections'), align: 'end', cell: ({ connections }) => number(connections) },
    { label: t('adminNetwork.refused'), align: 'end', cell: ({ refused }) => number(refused) },
    { label: t('adminNetwork.conversations'), align: 'end', cell: ({ conversations }) => number(conversations) },
    { label: t('adminNetwork.last'), className: 'md:whitespace-nowrap', cell: ({ lastAt }) => <Ago at={lastAt} /> },
  ];
  return (
    <Table
      label={t('adminNetwork.topHosts')}
      columns={columns}
      rows={hosts}
      rowKey={({ host, port }) => `${host} ${port}`}
    />
  );
}
