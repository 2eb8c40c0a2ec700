'use client';
import type { ObservedHost } from '@slipway/contracts/sandboxes';
import { Button, type Column, EmptyState, Section, Table } from '@slipway/ui';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { Ago } from '../../browser/ago.tsx';
import { ErrorNotice } from '../form/form-failure.tsx';
import { QueryPanel } from '../list/query-panel.tsx';
import { useSession } from '../session/me.ts';
import { AllowAll } from './allow-all.tsx';
import { patternOf } from './observed-pattern.ts';
import { useRules } from './use-rules.ts';

/** What sandboxes reached while they were observed, each with a rule to make of it. */
export function ObservedHosts() {
  const t = useTranslations();
  const { org } = useSession();
  const { data: rules } = useRules();
  const hosts = useQuery({
    queryKey: ['egress-observed-hosts', org.id],
    queryFn: ({ signal }) => api.listObservedHosts({ org: org.id, signal }),
  });
  // What was observed before stays, until there is a rule for each.
  if (rules?.unknown !== 'observe' && (hosts.data?.data.length ?? 0) === 0) return null;
  return (
    <Section title={t('adminNetwork.observedHosts')} description={t('adminNetwork.observedHostsDescription')}>
      <QueryPanel query={hosts} label={t('adminNetwork.theObservedHosts')}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState title={t('adminNetwork.noObservedHosts')} className="rounded-lg border border-line">
              {t('adminNetwork.noObservedHostsYet')}
            </EmptyState>
          ) : (
            <div className="flex flex-col gap-3">
              {org.permissions.includes('egress:write') ? <AllowAll hosts={data} /> : null}
              <HostTable hosts={data} />
            </div>
          )
        }
      </QueryPanel>
    </Section>
  );
}

function HostTable({ hosts }: { hosts: readonly ObservedHost[] }) {
  const t = useTranslations();
  const { org } = useSession();
  const columns: Column<ObservedHost>[] = [
    {
      label: t('adminNetwork.host'),
      phone: 'title',
      className: 'md:max-w-64',
      cell: (host) => (
        <bdi dir="ltr" className="font-mono text-xs font-medium break-all">
          {patternOf(host)}
        </bdi>
      ),
    },
    { label: t('adminNetwork.conversations'), align: 'end', cell: ({ conversations }) => conversations },
    { label: t('adminNetwork.connections'), align: 'end', cell: ({ connections }) => connections },
    { label: t('adminNetwork.lastReached'), cell: ({ lastAt }) => <Ago at={lastAt} /> },
    ...(org.permissions.includes('egress:write')
      ? [
          {
            label: t('common.actions'),
            unnamed: true,
            align: 'end',
            phone: 'actions',
            cell: (host) => <RuleButtons host={host} />,
          } satisfies Column<ObservedHost>,
        ]
      : []),
  ];
  return <Table label={t('adminNetwork.observedHosts')} columns={columns} rows={hosts} rowKey={patternOf} />;
}

function RuleButtons({ host }: { host: ObservedHost }) {
  const t = useTranslations();
  const { org } = useSession();
  const queries = useQueryClient();
  const pattern = patternOf(host);
  const write = useMutation({
    mutationFn: (action: 'allow' | 'deny') =>
      api.createEgressRule({
        org: org.id,
        body: { host: pattern, action, reason: t('adminNetwork.observedReason', { count: host.conversations }) },
      }),
    onSuccess: () => {
      toast(t('adminNetwork.ruleAdded', { host: pattern }));
      void queries.invalidateQueries({ queryKey: ['egress-rules', org.id] });
      return queries.invalidateQueries({ queryKey: ['egress-observed-hosts', org.id] });
    },
  });
  const button = (action: 'allow' | 'deny', label: string, name: string) => (
    <Button
      size="small"
      aria-label={name}
      busy={write.isPending && write.variables === action}
      disabled={write.isPending}
      onClick={() => write.mutate(action)}
    >
      {label}
    </Button>
  );
  return (
    <div className="flex flex-col items-end gap-1">
      <div className="flex gap-2">
        {button('allow', t('adminNetwork.allow'), t('adminNetwork.allowHost', { host: pattern }))}
        {button('deny', t('adminNetwork.deny'), t('adminNetwork.denyHost', { host: pattern }))}
      </div>
      <ErrorNotice error={write.error} />
    </div>
  );
}
