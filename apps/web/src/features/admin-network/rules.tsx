'use client';
import type { EgressRule } from '@slipway/contracts/sandboxes';
import { Badge, Button, type Column, ConfirmDialog, EmptyState, IconButton, Section, Table } from '@slipway/ui';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Trash2 } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { asAgo } from '../../browser/ago.tsx';
import { ErrorNotice } from '../form/form-failure.tsx';
import { QueryPanel } from '../list/query-panel.tsx';
import { useSession } from '../session/me.ts';
import { NewRuleDialog } from './rule-form.tsx';
import { Ends, Requests, Scope } from './rule-words.tsx';
import { TriedRemoval } from './try-rule.tsx';
import { useRules } from './use-rules.ts';

/** Hosts that the organization allows or denies, and how a rule is made and deleted. */
export function Rules() {
  const t = useTranslations();
  const { org } = useSession();
  const queries = useQueryClient();
  const [adding, setAdding] = useState(false);
  const mayChange = org.permissions.includes('egress:write');
  const rules = useRules();
  const changed = () => void queries.invalidateQueries({ queryKey: ['egress-rules', org.id] });
  return (
    <Section
      title={t('adminNetwork.rules')}
      description={t('adminNetwork.denyComesFirst')}
      action={
        mayChange ? (
          <Button tone="primary" onClick={() => setAdding(true)}>
            {t('adminNetwork.newRule')}
          </Button>
        ) : null
      }
    >
      <QueryPanel query={rules} label={t('adminNetwork.theRules')}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState title={t('adminNetwork.noRules')} className="rounded-lg border border-line">
              {mayChange ? t('adminNetwork.addTheHosts') : t('adminNetwork.anAdminCanAddRules')}
            </EmptyState>
          ) : (
            <RuleTable rules={data} readAt={rules.dataUpdatedAt} mayChange={mayChange} onChanged={changed} />
          )
        }
      </QueryPanel>
      <NewRuleDialog
        open={adding}
        opensHosts={rules.data?.opensHosts === true}
        onClose={() => setAdding(false)}
        onMade={({ host }) => {
          toast(t('adminNetwork.ruleAdded', { host }));
          setAdding(false);
          changed();
        }}
      />
    </Section>
  );
}

function RuleTable({
  rules,
  readAt,
  mayChange,
  onChanged,
}: {
  rules: readonly EgressRule[];
  readAt: number;
  mayChange: boolean;
  onChanged: () => void;
}) {
  const t = useTranslations();
  const columns: Column<EgressRule>[] = [
    {
      label: t('adminNetwork.host'),
      phone: 'title',
      className: 'md:max-w-64',
      cell: ({ host }) => (
        <bdi dir="ltr" className="font-mono text-xs font-medium break-all">
          {host}
        </bdi>
      ),
    },
    {
      label: t('adminNetwork.effect'),
      cell: ({ action }) => (
        <Badge tone={action === 'allow' ? 'ok' : 'bad'}>
          {action === 'allow' ? t('adminNetwork.allow') : t('adminNetwork.deny')}
        </Badge>
      ),
    },
    { label: t('adminNetwork.requests'), className: 'md:max-w-60', cell: (rule) => <Requests rule={rule} /> },
    { label: t('adminNetwork.scope'), className: 'md:max-w-64', cell: (rule) => <Scope rule={rule} /> },
    {
      label: t('adminNetwork.reason'),
      className: 'md:max-w-60',
      cell: ({ reason }) => (
        <span dir="auto" className="min-w-0 [overflow-wrap:anywhere]">
          {reason === '' ? '–' : reason}
        </span>
      ),
    },
    {
      label: t('common.created'),
      cell: ({ createdAt, createdBy: { label } }) => (
        <span>{t.rich('adminNetwork.by', { createdAt, label, ago: asAgo })}</span>
      ),
    },
    {
      label: t('adminNetwork.ends'),
      className: 'md:whitespace-nowrap',
      cell: (rule) => <Ends rule={rule} now={readAt} />,
    },
    ...(mayChange
      ? [
          {
            label: t('common.actions'),
            unnamed: true,
            align: 'end',
            phone: 'actions',
            cell: (rule) => <DeleteRule rule={rule} onDeleted={onChanged} />,
          } satisfies Column<EgressRule>,
        ]
      : []),
  ];
  return <Table label={t('adminNetwork.rules')} columns={columns} rows={rules} rowKey={({ id }) => id} />;
}

function DeleteRule({ rule, onDeleted }: { rule: EgressRule; onDeleted: () => void }) {
  const t = useTranslations();
  const { org } = useSession();
  const [asking, setAsking] = useState(false);
  const remove = useMutation({
    mutationFn: () => api.deleteEgressRule({ org: org.id, rule: rule.id }),
    onSuccess: () => {
      toast(t('adminNetwork.ruleDeleted', { host: rule.host }));
      setAsking(false);
      onDeleted();
    },
  });
  return (
    <>
      <IconButton label={t('common.delete3', { name: rule.host })} onClick={() => setAsking(true)}>
        <Trash2 aria-hidden />
      </IconButton>
      <ConfirmDialog
        open={asking}
        onOpenChange={setAsking}
        title={t('common.delete3', { name: rule.host })}
        confirmLabel={t('common.delete2')}
        busy={remove.isPending}
        onConfirm={() => remove.mutate()}
      >
        <p>{rule.action === 'allow' ? t('adminNetwork.deleteAllow') : t('adminNetwork.deleteDeny')}</p>
        {asking ? <TriedRemoval rule={rule.id} /> : null}
        <ErrorNotice error={remove.error} />
      </ConfirmDialog>
    </>
  );
}
