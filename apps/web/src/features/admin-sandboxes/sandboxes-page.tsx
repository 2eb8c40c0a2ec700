'use client';
import { ListSandboxesQuery, type LiveSandbox, SANDBOX_STATES, type SandboxQueue } from '@slipway/contracts';
import { Badge, Button, ConfirmDialog, EmptyState, Notice, Section, Select, Table } from '@slipway/ui';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import Link from 'next/link';
import { useState } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { useAddressValue } from '../../browser/address.ts';
import { Ago } from '../../browser/ago.tsx';
import { number } from '../../browser/format.ts';
import { ErrorNotice } from '../form/form-failure.tsx';
import { Page } from '../frame/page.tsx';
import { QueryPanel } from '../list/query-panel.tsx';
import { useSession } from '../session/me.ts';
import { estimate, SANDBOX_STATE_WORDS } from './sandbox-words.ts';

/** Milliseconds. */
const REFRESH_MS = 5_000;
const ANY = 'any';
const STATES = [{ value: ANY, label: 'Any state' }, ...SANDBOX_STATES.map((state) => ({ value: state, label: SANDBOX_STATE_WORDS[state].label }))];

export function SandboxesPage() {
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
    <Page title="Sandboxes" description="Where the agents of this organization work, as it is now.">
      <QueryPanel query={queue} label="The queue">
        {(data) => <Queue queue={data} orgSlug={org.slug} />}
      </QueryPanel>
      <Section
        title="Running"
        action={
          <Select
            aria-label="State"
            className="w-40"
            options={STATES}
            value={state ?? ANY}
            onChange={(value) => setFilter(value === ANY ? null : value, 'push')}
          />
        }
      >
        <QueryPanel query={fleet} label="The sandboxes">
          {({ data, live, detail }) => (
            <div className="flex flex-col gap-3">
              {live ? null : <Notice tone="warn" title={detail ?? 'This is what the conversations last knew.'} />}
              {data.length === 0 && state !== undefined ? (
                <EmptyState
                  title="No sandbox is in that state"
                  action={<Button onClick={() => setFilter(null)}>Clear the filter</Button>}
                  className="rounded-lg border border-line"
                />
              ) : data.length === 0 ? (
                <EmptyState title="No sandboxes are running" className="rounded-lg border border-line">
                  Each conversation that works has one. Idle ones are paused with their workspace kept.
                </EmptyState>
              ) : (
                <Fleet rows={data} mayStop={org.permissions.includes('sandbox:stop')} orgSlug={org.slug} onStop={setStopping} />
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
  return (
    <Table
      label="Sandboxes"
      rows={rows}
      rowKey={(sandbox) => sandbox.id}
      columns={[
        {
          label: 'Conversation',
          phone: 'title',
          className: 'max-w-80',
          cell: (sandbox) => (
            <span className="block min-w-0">
              <Link href={`/${orgSlug}/conversations/${sandbox.conversation.id}`} className="block truncate py-0.5 touch:py-3 font-medium hover:underline">
                {sandbox.conversation.title}
              </Link>
              <span className="block truncate text-xs text-ink-muted">{sandbox.owner.label}</span>
            </span>
          ),
        },
        {
          label: 'State',
          cell: (sandbox) => (
            <span className="block min-w-0">
              <Badge tone={SANDBOX_STATE_WORDS[sandbox.state].tone}>{SANDBOX_STATE_WORDS[sandbox.state].label}</Badge>
              {sandbox.reason ? <span className="block text-xs break-words text-ink-muted">{sandbox.reason}</span> : null}
            </span>
          ),
        },
        { label: 'Node', cell: (sandbox) => <span className="break-all">{sandbox.node ?? '—'}</span> },
        {
          label: 'Start',
          cell: (sandbox) => (
            <span>
              {sandbox.start ?? '—'}
              {sandbox.size !== null && sandbox.size > 1 ? `, ${sandbox.size} ×` : ''}
            </span>
          ),
        },
        { label: 'Age', cell: (sandbox) => <Ago at={sandbox.startedAt} className="whitespace-nowrap" /> },
        {
          label: 'Idle',
          cell: (sandbox) =>
            sandbox.idleSince === null ? <span className="text-ink-muted">—</span> : <Ago at={sandbox.idleSince} className="whitespace-nowrap" />,
        },
        { label: 'Restarts', align: 'end', phone: 'hidden', cell: (sandbox) => <span className="tabular-nums">{sandbox.restarts}</span> },
        {
          label: 'Actions',
          unnamed: true,
          align: 'end',
          phone: 'actions',
          cell: (sandbox) =>
            mayStop ? (
              <Button size="small" tone="danger" aria-label={`Stop the sandbox of ${sandbox.conversation.title}`} onClick={() => onStop(sandbox)}>
                Stop
              </Button>
            ) : null,
        },
      ]}
    />
  );
}

function Queue({ queue, orgSlug }: { queue: SandboxQueue; orgSlug: string }) {
  const { inUse, limit } = queue.quota;
  return (
    <Section
      title="Capacity"
      description={
        queue.live ? (
          <>
            {limit === null ? `${number(inUse)} in use.` : `${number(inUse)} of ${number(limit)} in use.`} {queue.data.length === 0 ? 'Nobody waits.' : null}
          </>
        ) : (
          'How many are in use and who waits is not known now.'
        )
      }
    >
      {queue.data.length === 0 ? null : (
        <Table
          label="Waiting for a sandbox"
          rows={queue.data}
          rowKey={(waiting) => waiting.conversation.id}
          columns={[
            {
              label: 'Conversation',
              phone: 'title',
              cell: (waiting) => (
                <Link href={`/${orgSlug}/conversations/${waiting.conversation.id}`} className="inline-block py-0.5 touch:py-3 font-medium hover:underline">
                  {waiting.conversation.title}
                </Link>
              ),
            },
            { label: 'Place', align: 'end', cell: (waiting) => <span className="tabular-nums">{waiting.position}</span> },
            { label: 'Estimate', cell: (waiting) => estimate(waiting.estimateSeconds) },
            { label: 'What stands in the way', cell: (waiting) => <span className="break-words">{waiting.reason}</span> },
            { label: 'Owner', phone: 'hidden', cell: (waiting) => waiting.owner.label },
            { label: 'Since', cell: (waiting) => <Ago at={waiting.since} /> },
          ]}
        />
      )}
    </Section>
  );
}

function StopDialog({ sandbox, onClose, onDone }: { sandbox: LiveSandbox; onClose: () => void; onDone: () => void }) {
  const { org } = useSession();
  const stop = useMutation({
    mutationFn: () => api.stopSandbox({ org: org.id, sandbox: sandbox.id }),
    onSuccess: () => {
      toast('The sandbox is being stopped; its conversation is told.');
      onDone();
    },
  });
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => open || onClose()}
      title="Stop this sandbox?"
      confirmLabel="Stop"
      busy={stop.isPending}
      onConfirm={() => stop.mutate()}
    >
      <p>
        “{sandbox.conversation.title}” of {sandbox.owner.label} is paused; its workspace is saved before its sandbox ends. A message starts it again.
      </p>
      <ErrorNotice error={stop.error} />
    </ConfirmDialog>
  );
}
