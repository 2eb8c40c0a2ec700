'use client';
import { ERRORS } from '@slipway/contracts/errors';
import { type Storage, type StoredConversation } from '@slipway/contracts/sandboxes';
import { bytesText } from '@slipway/domain';
import { Button, ConfirmDialog, EmptyState, Notice, Section, Table } from '@slipway/ui';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { Ago, asAgo } from '../../browser/ago.tsx';
import { number } from '../../browser/format.ts';
import { ErrorNotice } from '../form/form-failure.tsx';
import { Page } from '../frame/page.tsx';
import { QueryPanel } from '../list/query-panel.tsx';
import { useSession } from '../session/me.ts';
import { type Segment, segmentsOf, usedWords } from './storage-words.ts';

const COLOURS: Readonly<Record<Segment['kind'], string>> = {
  log: 'bg-accent',
  payloads: 'bg-ok',
  changes: 'bg-warn',
  rounding: 'bg-line-strong',
};

export function StoragePage() {
  const t = useTranslations();
  const { org } = useSession();
  const queries = useQueryClient();
  const [deleting, setDeleting] = useState<StoredConversation | null>(null);
  const storage = useQuery({
    queryKey: ['storage', org.id],
    queryFn: ({ signal }) => api.getStorage({ org: org.id, signal }),
  });
  return (
    <Page title={t('common.storage')} description={t('adminStorage.storageUsedByConversationsAnd')}>
      <QueryPanel query={storage} label={t('adminStorage.theStorage')}>
        {(data) => (
          <>
            <Used storage={data} />
            <Section
              title={t('adminStorage.largestConversations')}
              description={t('adminStorage.deletingAConversationFreesIts')}
            >
              {data.largest.length === 0 ? (
                <EmptyState title={t('adminStorage.noStoredDataYet')} className="rounded-lg border border-line">
                  {t('adminStorage.conversationsAppearHereWithTheir')}
                </EmptyState>
              ) : (
                <Largest
                  storage={data}
                  orgSlug={org.slug}
                  mayDelete={org.permissions.includes('conversation:delete')}
                  onDelete={setDeleting}
                />
              )}
            </Section>
          </>
        )}
      </QueryPanel>
      {deleting === null ? null : (
        <DeleteDialog
          conversation={deleting}
          onClose={() => setDeleting(null)}
          onDone={() => {
            setDeleting(null);
            void queries.invalidateQueries({ queryKey: ['storage', org.id] });
            void queries.invalidateQueries({ queryKey: ['conversations'] });
          }}
        />
      )}
    </Page>
  );
}

function Used({ storage }: { storage: Storage }) {
  const t = useTranslations();
  const segments = segmentsOf(t, storage);
  return (
    <div className="flex flex-col gap-3">
      {storage.state === 'full' ? (
        <Notice tone="bad" title={t('adminStorage.storageIsFullNewTasks')}>
          {ERRORS['storage.exhausted'].nextStep}
        </Notice>
      ) : storage.state === 'near' ? (
        <Notice tone="warn" title={t('adminStorage.storageIsAlmostFull')}>
          {t('adminStorage.whenItIsFullNew')}
        </Notice>
      ) : null}
      <figure className="flex min-w-0 flex-col gap-3 rounded-lg border border-line bg-surface p-4">
        <figcaption className="font-semibold tabular-nums">{usedWords(t, storage)}</figcaption>
        <div aria-hidden className="flex h-3 overflow-hidden rounded-full bg-raised">
          {segments.map(({ kind, percent }) => (
            <span key={kind} className={COLOURS[kind]} style={{ width: `${percent}%` }} />
          ))}
        </div>
        <dl className="grid grid-cols-2 gap-x-4 gap-y-2 md:grid-cols-4">
          {segments.map(({ kind, label, bytes }) => (
            <div key={kind} className="min-w-0">
              <dt className="flex items-center gap-2 text-xs text-ink-muted">
                <span aria-hidden className={`size-2 shrink-0 rounded-full ${COLOURS[kind]}`} />
                {label}
              </dt>
              <dd className="tabular-nums" title={t('adminStorage.bytes', { bytes: number(bytes) })}>
                {bytesText(bytes)}
              </dd>
            </div>
          ))}
        </dl>
        <p className="text-xs text-ink-muted">
          {t('adminStorage.whoeverOperatesSlipwaySetsThe', {
            count: storage.conversations,
          })}
          {storage.countedAt === null ? null : (
            <> {t.rich('adminStorage.checked', { countedAt: storage.countedAt, ago: asAgo })}</>
          )}
        </p>
      </figure>
    </div>
  );
}

function Largest({
  storage,
  orgSlug,
  mayDelete,
  onDelete,
}: {
  storage: Storage;
  orgSlug: string;
  mayDelete: boolean;
  onDelete: (conversation: StoredConversation) => void;
}) {
  const t = useTranslations();
  return (
    <Table
      label={t('adminStorage.largestConversations')}
      rows={storage.largest}
      rowKey={(conversation) => conversation.id}
      columns={[
        {
          label: t('common.conversation'),
          phone: 'title',
          className: 'max-w-80',
          cell: (conversation) => (
            <span className="block min-w-0">
              <Link
                href={`/${orgSlug}/conversations/${conversation.id}`}
                className="block truncate font-medium hover:underline"
              >
                {conversation.title}
              </Link>
              <span className="block truncate text-xs text-ink-muted">{conversation.owner.label}</span>
            </span>
          ),
        },
        { label: t('common.storage'), align: 'end', cell: ({ bytes }) => <Size bytes={bytes} /> },
        { label: t('adminStorage.events'), align: 'end', phone: 'hidden', cell: ({ log }) => <Size bytes={log} /> },
        {
          label: t('adminStorage.longOutputs'),
          align: 'end',
          phone: 'hidden',
          cell: ({ payloads }) => <Size bytes={payloads} />,
        },
        { label: t('common.changes'), align: 'end', phone: 'hidden', cell: ({ changes }) => <Size bytes={changes} /> },
        {
          label: t('adminStorage.lastActivity'),
          cell: ({ updatedAt }) => <Ago at={updatedAt} className="whitespace-nowrap" />,
        },
        {
          label: t('common.actions'),
          unnamed: true,
          align: 'end',
          phone: 'actions',
          cell: (conversation) =>
            mayDelete ? (
              <Button
                size="small"
                tone="danger"
                aria-label={t('adminStorage.delete', { title: conversation.title })}
                onClick={() => onDelete(conversation)}
              >
                {t('common.delete2')}
              </Button>
            ) : null,
        },
      ]}
    />
  );
}

function Size({ bytes }: { bytes: number }) {
  const t = useTranslations();
  return (
    <span className="whitespace-nowrap tabular-nums" title={t('adminStorage.bytes', { bytes: number(bytes) })}>
      {bytesText(bytes)}
    </span>
  );
}

function DeleteDialog({
  conversation,
  onClose,
  onDone,
}: {
  conversation: StoredConversation;
  onClose: () => void;
  onDone: () => void;
}) {
  const t = useTranslations();
  const { org } = useSession();
  const remove = useMutation({
    mutationFn: () =>
      api.deleteConversation({ org: org.id, conversation: conversation.id, query: { permanently: 'true' } }),
    onSuccess: () => {
      toast(t('adminStorage.deletedFreed', { bytes: bytesText(conversation.bytes) }));
      onDone();
    },
  });
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => open || onClose()}
      title={t('adminStorage.deleteThisConversation')}
      confirmLabel={t('adminStorage.deletePermanently')}
      busy={remove.isPending}
      onConfirm={() => remove.mutate()}
    >
      <p className="break-words">
        {t('adminStorage.byIsDeletedWithIts', { title: conversation.title, label: conversation.owner.label })}
      </p>
      <ErrorNotice error={remove.error} />
    </ConfirmDialog>
  );
}
