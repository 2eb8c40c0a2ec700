'use client';
import { ERRORS, type Storage, type StoredConversation } from '@slipway/contracts';
import { bytesText } from '@slipway/domain';
import { Button, ConfirmDialog, EmptyState, Notice, Section, Table } from '@slipway/ui';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import Link from 'next/link';
import { useState } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { Ago } from '../../browser/ago.tsx';
import { number } from '../../browser/format.ts';
import { ErrorNotice } from '../form/form-failure.tsx';
import { Page } from '../frame/page.tsx';
import { QueryPanel } from '../list/query-panel.tsx';
import { useSession } from '../session/me.ts';
import { type Segment, segmentsOf, usedWords } from './storage-words.ts';

const COLOURS: Readonly<Record<Segment['kind'], string>> = { log: 'bg-accent', payloads: 'bg-ok', changes: 'bg-warn', rounding: 'bg-line-strong' };

export function StoragePage() {
  const { org } = useSession();
  const queries = useQueryClient();
  const [deleting, setDeleting] = useState<StoredConversation | null>(null);
  const storage = useQuery({ queryKey: ['storage', org.id], queryFn: ({ signal }) => api.getStorage({ org: org.id, signal }) });
  return (
    <Page title="Storage" description="What the conversations of this organization keep, and how much they may.">
      <QueryPanel query={storage} label="The storage">
        {(data) => (
          <>
            <Used storage={data} />
            <Section title="Largest conversations" description="Deleting one gives its storage back at once.">
              {data.largest.length === 0 ? (
                <EmptyState title="Nothing is stored yet" className="rounded-lg border border-line">
                  Conversations appear here with what they keep.
                </EmptyState>
              ) : (
                <Largest storage={data} orgSlug={org.slug} mayDelete={org.permissions.includes('conversation:delete')} onDelete={setDeleting} />
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
  const segments = segmentsOf(storage);
  return (
    <div className="flex flex-col gap-3">
      {storage.state === 'full' ? (
        <Notice tone="bad" title="The storage is used up: nothing new can be started, and agents pause when they write.">
          {ERRORS['storage.exhausted'].nextStep}
        </Notice>
      ) : storage.state === 'near' ? (
        <Notice tone="warn" title="The storage is nearly used up.">
          When it is, nothing new can be started and agents pause. Delete conversations that are not needed any more.
        </Notice>
      ) : null}
      <figure className="flex min-w-0 flex-col gap-3 rounded-lg border border-line bg-surface p-4">
        <figcaption className="font-semibold tabular-nums">{usedWords(storage)}</figcaption>
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
              <dd className="tabular-nums" title={`${number(bytes)} bytes`}>
                {bytesText(bytes)}
              </dd>
            </div>
          ))}
        </dl>
        <p className="text-xs text-ink-muted">
          {number(storage.conversations)} {storage.conversations === 1 ? 'conversation' : 'conversations'}. Whoever operates Slipway sets the limit.
          {storage.countedAt === null ? null : (
            <>
              {' '}
              Checked <Ago at={storage.countedAt} />.
            </>
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
  return (
    <Table
      label="Largest conversations"
      rows={storage.largest}
      rowKey={(conversation) => conversation.id}
      columns={[
        {
          label: 'Conversation',
          phone: 'title',
          className: 'max-w-80',
          cell: (conversation) => (
            <span className="block min-w-0">
              <Link href={`/${orgSlug}/conversations/${conversation.id}`} className="block truncate font-medium hover:underline">
                {conversation.title}
              </Link>
              <span className="block truncate text-xs text-ink-muted">{conversation.owner.label}</span>
            </span>
          ),
        },
        { label: 'Storage', align: 'end', cell: ({ bytes }) => <Size bytes={bytes} /> },
        { label: 'Events', align: 'end', phone: 'hidden', cell: ({ log }) => <Size bytes={log} /> },
        { label: 'Long outputs', align: 'end', phone: 'hidden', cell: ({ payloads }) => <Size bytes={payloads} /> },
        { label: 'Changes', align: 'end', phone: 'hidden', cell: ({ changes }) => <Size bytes={changes} /> },
        { label: 'Last activity', cell: ({ updatedAt }) => <Ago at={updatedAt} className="whitespace-nowrap" /> },
        {
          label: 'Actions',
          unnamed: true,
          align: 'end',
          phone: 'actions',
          cell: (conversation) =>
            mayDelete ? (
              <Button size="small" tone="danger" aria-label={`Delete ${conversation.title}`} onClick={() => onDelete(conversation)}>
                Delete
              </Button>
            ) : null,
        },
      ]}
    />
  );
}

function Size({ bytes }: { bytes: number }) {
  return (
    <span className="whitespace-nowrap tabular-nums" title={`${number(bytes)} bytes`}>
      {bytesText(bytes)}
    </span>
  );
}

function DeleteDialog({ conversation, onClose, onDone }: { conversation: StoredConversation; onClose: () => void; onDone: () => void }) {
  const { org } = useSession();
  const remove = useMutation({
    mutationFn: () => api.deleteConversation({ org: org.id, conversation: conversation.id }),
    onSuccess: () => {
      toast(`Deleted. ${bytesText(conversation.bytes)} are free again.`);
      onDone();
    },
  });
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => open || onClose()}
      title="Delete this conversation?"
      confirmLabel="Delete for good"
      busy={remove.isPending}
      onConfirm={() => remove.mutate()}
    >
      <p className="break-words">
        “{conversation.title}” of {conversation.owner.label} goes with its log, its files and its sandbox. What was not pushed is lost, and nobody can bring it
        back.
      </p>
      <ErrorNotice error={remove.error} />
    </ConfirmDialog>
  );
}
