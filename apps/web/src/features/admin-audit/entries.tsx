'use client';
import type { AuditEntry } from '@slipway/contracts/audit';
import { Button, IconButton, Table } from '@slipway/ui';
import { ListFilter } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { exactTime } from '../../browser/format.ts';
import { actionWords } from './action-words.ts';
import { Target } from './target.tsx';

export interface Shown {
  readonly entry: AuditEntry;
  /** Names of users and service accounts and titles of conversations, by id. */
  readonly names: Readonly<Record<string, string>>;
}

/** The entries, the newest first. */
export function Entries({
  rows,
  current,
  onOpen,
  onActor,
  onAction,
  onTarget,
}: {
  rows: readonly Shown[];
  current: string | null;
  onOpen: (id: string) => void;
  onActor: (id: string) => void;
  onAction: (action: string) => void;
  onTarget: (id: string) => void;
}) {
  const t = useTranslations();
  return (
    <Table
      label={t('adminAudit.auditEntries')}
      rows={rows}
      rowKey={({ entry }) => entry.id}
      current={current}
      columns={[
        {
          label: t('adminAudit.time'),
          className: 'whitespace-nowrap',
          cell: ({ entry }) => (
            <time dateTime={entry.createdAt} className="text-xs text-ink-muted tabular-nums">
              {exactTime(entry.createdAt)}
            </time>
          ),
        },
        {
          label: t('adminAudit.action'),
          phone: 'title',
          cell: ({ entry }) => (
            <button
              type="button"
              className="py-0.5 touch:py-3 text-left hover:underline"
              title={t('adminAudit.only', { action: entry.action })}
              onClick={() => onAction(entry.action)}
            >
              {actionWords(t, entry.action)}
            </button>
          ),
        },
        {
          label: t('adminAudit.actor'),
          cell: ({ entry, names }) => (
            <span className="block min-w-0">
              <button
                type="button"
                className="py-0.5 touch:py-3 text-left break-words hover:underline"
                title={t('adminAudit.showOnlyThisActor')}
                onClick={() => onActor(entry.actor.id)}
              >
                {entry.actor.label ?? names[entry.actor.id] ?? entry.actor.id}
              </button>
              {entry.actor.viaKey === null ? null : (
                <span className="block text-xs text-ink-muted">{t('adminAudit.withAnApiKey')}</span>
              )}
            </span>
          ),
        },
        {
          label: t('adminAudit.target'),
          className: 'max-w-64',
          cell: (shown) => (
            <span className="flex min-w-0 items-center gap-1">
              <Target {...shown} />
              <IconButton label={t('adminAudit.showOnlyThisTarget')} onClick={() => onTarget(shown.entry.target)}>
                <ListFilter aria-hidden />
              </IconButton>
            </span>
          ),
        },
        {
          label: t('adminAudit.address'),
          phone: 'hidden',
          cell: ({ entry }) => <span className="text-xs">{entry.address ?? '—'}</span>,
        },
        {
          label: t('common.details'),
          unnamed: true,
          align: 'end',
          phone: 'actions',
          cell: ({ entry }) => (
            <Button
              size="small"
              aria-label={t('adminAudit.detailsOf', { action: actionWords(t, entry.action) })}
              onClick={() => onOpen(entry.id)}
            >
              {t('common.details')}
            </Button>
          ),
        },
      ]}
    />
  );
}
