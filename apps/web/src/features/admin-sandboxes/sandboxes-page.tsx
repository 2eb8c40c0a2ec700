'use client';
import { ListSandboxesQuery, type LiveSandbox, SANDBOX_STATES, type SandboxQueue } from '@slipway/contracts/sandboxes';
import { Badge, Button, ConfirmDialog, EmptyState, Notice, Section, Select, Table } from '@slipway/ui';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { useAddressValue } from '../../browser/address.ts';
import { Ago } from '../../browser/ago.tsx';
import { number } from '../../browser/format.ts';
import { type Option, translated } from '../../messages/translate.ts';
import { ErrorNotice } from '../form/form-failure.tsx';
import { Page } from '../frame/page.tsx';
import { QueryPanel } from '../list/query-panel.tsx';
import { useSession } from '../session/me.ts';
import { estimate, SANDBOX_STATE_WORDS } from './sandbox-words.ts';

/** Milliseconds. */
const REFRESH_MS = 5_000;
const ANY = 'any';
const STATES: readonly Option[] = [
  { value: ANY, label: 'adminSandboxes.anyState' },
  ...SANDBOX_STATES.map((state) => ({ value: state, label: SANDBOX_STATE_WORDS[state].label })),
];

export function SandboxesPage() {
  const t = useTranslations();
  const { org } = useSession();
  const queries = useQueryClient();
  const [filter, setFilter] = useAddressValue('state');
  const [stopping, setStopping] = useState<LiveSandbox | null>(null);
  const state = ListSandboxesQuery.shape.state.safeParse(filter ?? undefined).data;
  const fleet = useQuery({
    queryKey: ['sandboxes', org.id, state ?? ANY],
    queryFn: ({ signal }) => api.listSandboxes({ org: org.id, query: state === undefined ? {} : { state }, signal }),
    refetchInterval: REFRESH_MS,
  });
  const queue = useQuery({
    queryKey: ['sandbox-queue', org.id],
    queryFn: ({ signal }) => api.getSandboxQueue({ org: org.id, signal }),
    refetchInterval: REFRESH_MS,
  });
  return (
    <Page title={t('common.sandboxes')} description={t('adminSandboxes.sandboxesOfThisOrganizationsAgents')}>
      <QueryPanel query={queue} label={t('adminSandboxes.theQueue')}>
        {(data) => <Queue queue={data} orgSlug={org.slug} />}
      </QueryPanel>
      <Section
        title={t('adminSandboxes.running')}
        action={
          <Select
            aria-label={t('common.state')}
            className="w-40"
            options={translated(t, STATES)}
            value={state ?? ANY}
            onChange={(value) => setFilter(value === ANY ? null : value, 'push')}
          />
        }
      >
        <QueryPanel query={fleet} label={t('adminSandboxes.theSandboxes')}>
          {({ data, live, detail }) => (
            <div className="flex flex-col gap-3">
              {live ? null : <Notice tone="warn" title={detail ?? t('adminSandboxes.liveDataIsUnavailableThis')} />}
              {data.length === 0 && state !== undefined ? (
                <EmptyState
                  title={t('adminSandboxes.noSandboxInThisState')}
                  action={<Button onClick={() => setFilter(null)}>{t('adminSandboxes.clearFilter')}</Button>}
                  className="rounded-lg border border-line"
                />
              ) : data.length === 0 ? (
                <EmptyState title={t('adminSandboxes.noSandboxesRunning')} className="rounded-lg border border-line">
                  {t('adminSandboxes.eachWorkingConversationHasA')}
                </EmptyState>
              ) : (
                <Fleet
                  rows={data}
                  mayStop={org.permissions.includes('sandbox:stop')}
                  orgSlug={org.slug}
                  onStop={setStopping}
                />
              )}
            </div>
          )}
        </QueryPanel>
      </Section>
      {stopping === null ? null : (
        <StopDialog
          sandbox={stopping}
          onClose={() => setStopping(null)}
          onDone={() => {
            setStopping(null);
            void queries.invalidateQueries({ queryKey: ['sandboxes', org.id] });
            void queries.invalidateQueries({ queryKey: ['sandbox-queue', org.id] });
          }}
        />
      )}
    </Page>
  );
}

function Fleet({
  rows,
  mayStop,
  orgSlug,
  onStop,
}: {
  rows: readonly LiveSandbox[];
  mayStop: boolean;
  orgSlug: string;
  onStop: (sandbox: LiveSandbox) => void;
}) {
  const t = useTranslations();
  return (
    <Table
      label={t('common.sandboxes')}
      rows={rows}
      rowKey={(sandbox) => sandbox.id}
      columns={[
        {
          label: t('common.conversation'),
          phone: 'title',
          className: 'max-w-80',
          cell: (sandbox) => (
            <span className="block min-w-0">
              <Link
                href={`/${orgSlug}/conversations/${sandbox.conversation.id}`}
                className="block truncate py-0.5 touch:py-3 font-medium hover:underline"
              >
                {sandbox.conversation.title}
              </Link>
              <span className="block truncate text-xs text-ink-muted">{sandbox.owner.label}</span>
            </span>
          ),
        },
        {
          label: t('common.state'),
          cell: (sandbox) => (
            <span className="block min-w-0">
              <Badge tone={SANDBOX_STATE_WORDS[sandbox.state].tone}>
                {t(SANDBOX_STATE_WORDS[sandbox.state].label)}
              </Badge>
              {sandbox.reason ? (
                <span className="block text-xs break-words text-ink-muted">{sandbox.reason}</span>
              ) : null}
            </span>
          ),
        },
        {
          label: t('adminSandboxes.node'),
          cell: (sandbox) => <span className="break-all">{sandbox.node ?? '—'}</span>,
        },
        {
          label: t('common.start'),
          cell: (sandbox) => (
            <span>
              {sandbox.start ?? '—'}
              {sandbox.size !== null && sandbox.size > 1 ? `, ${sandbox.size} ×` : ''}
            </span>
          ),
        },
        {
          label: t('adminSandboxes.age'),
          cell: (sandbox) => <Ago at={sandbox.startedAt} className="whitespace-nowrap" />,
        },
        {
          label: t('adminSandboxes.idle'),
          cell: (sandbox) =>
            sandbox.idleSince === null ? (
              <span className="text-ink-muted">—</span>
            ) : (
              <Ago at={sandbox.idleSince} className="whitespace-nowrap" />
            ),
        },
        {
          label: t('adminSandboxes.restarts'),
          align: 'end',
          phone: 'hidden',
          cell: (sandbox) => <span className="tabular-nums">{sandbox.restarts}</span>,
        },
        {
          label: t('common.actions'),
          unnamed: true,
          align: 'end',
          phone: 'actions',
          cell: (sandbox) =>
            mayStop ? (
              <Button
                size="small"
                tone="danger"
                aria-label={t('adminSandboxes.stopSandboxOf', { title: sandbox.conversation.title })}
                onClick={() => onStop(sandbox)}
              >
                {t('adminSandboxes.stop')}
              </Button>
            ) : null,
        },
      ]}
    />
  );
}

function Queue({ queue, orgSlug }: { queue: SandboxQueue; orgSlug: string }) {
  const t = useTranslations();
  const { inUse, limit } = queue.quota;
  return (
    <Section
      title={t('adminSandboxes.capacity')}
      description={
        queue.live ? (
          <>
            {limit === null
              ? t('adminSandboxes.inUse', { inUse: number(inUse) })
              : t('adminSandboxes.ofInUse', { inUse: number(inUse), limit: number(limit) })}{' '}
            {queue.data.length === 0 ? t('adminSandboxes.noOneIsWaiting') : null}
          </>
        ) : (
          t('adminSandboxes.usageAndQueueAreCurrently')
        )
      }
    >
      {queue.data.length === 0 ? null : (
        <Table
          label={t('adminSandboxes.waitingForASandbox')}
          rows={queue.data}
          rowKey={(waiting) => waiting.conversation.id}
          columns={[
            {
              label: t('common.conversation'),
              phone: 'title',
              cell: (waiting) => (
                <Link
                  href={`/${orgSlug}/conversations/${waiting.conversation.id}`}
                  className="inline-block py-0.5 touch:py-3 font-medium hover:underline"
                >
                  {waiting.conversation.title}
                </Link>
              ),
            },
            {
              label: t('adminSandboxes.position'),
              align: 'end',
              cell: (waiting) => <span className="tabular-nums">{waiting.position}</span>,
            },
            { label: t('adminSandboxes.estimate'), cell: (waiting) => estimate(t, waiting.estimateSeconds) },
            {
              label: t('adminSandboxes.reason'),
              cell: (waiting) => <span className="break-words">{waiting.reason}</span>,
            },
            { label: t('common.owner'), phone: 'hidden', cell: (waiting) => waiting.owner.label },
            { label: t('adminSandboxes.waitingSince'), cell: (waiting) => <Ago at={waiting.since} /> },
          ]}
        />
      )}
    </Section>
  );
}

function StopDialog({ sandbox, onClose, onDone }: { sandbox: LiveSandbox; onClose: () => void; onDone: () => void }) {
  const t = useTranslations();
  const { org } = useSession();
  const stop = useMutation({
    mutationFn: () => api.stopSandbox({ org: org.id, sandbox: sandbox.id }),
    onSuccess: () => {
      toast(t('adminSandboxes.stoppingTheSandbox'));
      onDone();
    },
  });
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => open || onClose()}
      title={t('adminSandboxes.stopThisSandbox')}
      confirmLabel={t('adminSandboxes.stop')}
      busy={stop.isPending}
      onConfirm={() => stop.mutate()}
    >
      <p>{t('adminSandboxes.byIsPausedItsFiles', { title: sandbox.conversation.title, label: sandbox.owner.label })}</p>
      <ErrorNotice error={stop.error} />
    </ConfirmDialog>
  );
}
