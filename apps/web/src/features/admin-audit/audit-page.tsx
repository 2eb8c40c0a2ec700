'use client';
import { downloadUrls } from '@slipway/api-client';
import { type AuditEntry, type AuditPage as AuditList, AuditQuery } from '@slipway/contracts';
import { Button, Dialog, EmptyState, Table } from '@slipway/ui';
import { Download } from 'lucide-react';
import { api } from '../../api/client.ts';
import { useAddressValue } from '../../browser/address.ts';
import { Ago } from '../../browser/ago.tsx';
import { Page } from '../frame/page.tsx';
import { ListPanel } from '../list/list-panel.tsx';
import { SearchField } from '../list/search-field.tsx';
import { usePages } from '../list/use-pages.ts';
import { useSession } from '../session/me.ts';
import { actionWords } from './action-words.ts';
import { EntryDetails } from './entry-details.tsx';
import { Target } from './target.tsx';
import { VerifyChain } from './verify-button.tsx';

export function AuditPage() {
  const { org } = useSession();
  const [action, setAction] = useAddressValue('action');
  const [actor, setActor] = useAddressValue('actor');
  const [target, setTarget] = useAddressValue('target');
  const [opened, setOpened] = useAddressValue('entry');
  const asked = { ...(action ? { action } : {}), ...(actor ? { actor } : {}), ...(target ? { target } : {}) };
  // A filter that is no filter yet, such as half an action, finds nothing rather than everything.
  const sound = AuditQuery.safeParse(asked).success;
  const entries = usePages({
    key: ['audit', org.id, asked],
    read: async (cursor, signal) =>
      sound ? withNames(await api.listAudit({ org: org.id, query: { ...asked, ...cursor }, signal })) : { data: [], page: { nextCursor: null } },
  });
  const filtered = Object.keys(asked).length > 0;
  const clear = () => {
    setAction(null);
    setActor(null);
    setTarget(null);
  };
  const shown = entries.rows.find(({ entry }) => entry.id === opened);
  return (
    <Page
      title="Audit"
      description="What was done, by whom and from where. Each entry is chained to the one before, so that a change shows."
      action={
        org.permissions.includes('audit:export') ? (
          <Button asChild>
            <a href={downloadUrls.exportAudit({ org: org.id })} download>
              <Download aria-hidden /> Export
            </a>
          </Button>
        ) : null
      }
    >
      <VerifyChain />
      <div className="grid gap-3 md:grid-cols-3">
        <SearchField label="Action, such as api-key" value={action ?? ''} onChange={(value) => setAction(value === '' ? null : value)} />
        <SearchField label="Id of who did it" value={actor ?? ''} onChange={(value) => setActor(value === '' ? null : value)} />
        <SearchField label="Id of what it was done to" value={target ?? ''} onChange={(value) => setTarget(value === '' ? null : value)} />
      </div>
      <ListPanel
        list={entries}
        noun="entries"
        filtered={filtered ? clear : null}
        empty={
          <EmptyState title="Nothing has been recorded yet" className="rounded-lg border border-line">
            Sign-ins, keys, roles, stops and exports appear here as they happen.
          </EmptyState>
        }
      >
        {(rows) => (
          <Entries
            rows={rows}
            current={opened}
            onOpen={(id) => setOpened(id, 'push')}
            onActor={(id) => setActor(id, 'push')}
            onAction={(name) => setAction(name, 'push')}
          />
        )}
      </ListPanel>
      <Dialog
        open={shown !== undefined}
        onOpenChange={(open) => open || setOpened(null)}
        title={shown === undefined ? '' : actionWords(shown.entry.action)}
        className="w-[min(640px,calc(100vw-32px))]"
      >
        {shown === undefined ? null : <EntryDetails {...shown} />}
      </Dialog>
    </Page>
  );
}

interface Shown {
  readonly entry: AuditEntry;
  readonly names: Readonly<Record<string, string>>;
}

/** A server of the version before knows no names. */
function withNames({ data, page, names = {} }: Omit<AuditList, 'names'> & { names?: Readonly<Record<string, string>> }) {
  return { data: data.map((entry): Shown => ({ entry, names })), page };
}

function Entries({
  rows,
  current,
  onOpen,
  onActor,
  onAction,
}: {
  rows: readonly Shown[];
  current: string | null;
  onOpen: (id: string) => void;
  onActor: (id: string) => void;
  onAction: (action: string) => void;
}) {
  return (
    <Table
      label="Audit entries"
      rows={rows}
      rowKey={({ entry }) => entry.id}
      current={current}
      columns={[
        {
          label: 'What',
          phone: 'title',
          cell: ({ entry }) => (
            <button type="button" className="py-0.5 touch:py-3 text-left hover:underline" title={`Only ${entry.action}`} onClick={() => onAction(entry.action)}>
              {actionWords(entry.action)}
            </button>
          ),
        },
        {
          label: 'Who',
          cell: ({ entry, names }) => (
            <span className="block min-w-0">
              <button
                type="button"
                className="py-0.5 touch:py-3 text-left break-words hover:underline"
                title="Only of this one"
                onClick={() => onActor(entry.actor.id)}
              >
                {entry.actor.label ?? names[entry.actor.id] ?? entry.actor.id}
              </button>
              {entry.actor.viaKey === null ? null : <span className="block text-xs text-ink-muted">with an API key</span>}
            </span>
          ),
        },
        {
          label: 'To what',
          className: 'max-w-64',
          cell: (shown) => <Target {...shown} />,
        },
        { label: 'From', phone: 'hidden', cell: ({ entry }) => <span className="text-xs">{entry.address ?? '—'}</span> },
        { label: 'When', cell: ({ entry }) => <Ago at={entry.createdAt} /> },
        {
          label: 'Details',
          unnamed: true,
          align: 'end',
          phone: 'actions',
          cell: ({ entry }) => (
            <Button size="small" aria-label={`Details of ${actionWords(entry.action)}`} onClick={() => onOpen(entry.id)}>
              Details
            </Button>
          ),
        },
      ]}
    />
  );
}
