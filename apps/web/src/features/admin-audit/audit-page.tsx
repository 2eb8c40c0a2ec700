'use client';
import { downloadUrls } from '@slipway/api-client';
import { type AuditEntry, type AuditPage as AuditList, AuditQuery } from '@slipway/contracts/audit';
import { Button, Dialog, EmptyState, Table } from '@slipway/ui';
import { Download } from 'lucide-react';
import { useTranslations } from 'next-intl';
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
  const t = useTranslations();
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
      sound
        ? withNames(await api.listAudit({ org: org.id, query: { ...asked, ...cursor }, signal }))
        : { data: [], page: { nextCursor: null } },
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
      title={t('common.audit')}
      description={t('adminAudit.everyRecordedActionWhoDid')}
      action={
        org.permissions.includes('audit:export') ? (
          <Button asChild>
            <a href={downloadUrls.exportAudit({ org: org.id })} download>
              <Download aria-hidden /> {t('adminAudit.export')}
            </a>
          </Button>
        ) : null
      }
    >
      <VerifyChain />
      <div className="grid gap-3 md:grid-cols-3">
        <SearchField
          label={t('adminAudit.actionSuchAsApiKey')}
          value={action ?? ''}
          onChange={(value) => setAction(value === '' ? null : value)}
        />
        <SearchField
          label={t('adminAudit.actorId')}
          value={actor ?? ''}
          onChange={(value) => setActor(value === '' ? null : value)}
        />
        <SearchField
          label={t('adminAudit.targetId')}
          value={target ?? ''}
          onChange={(value) => setTarget(value === '' ? null : value)}
        />
      </div>
      <ListPanel
        list={entries}
        noun={t('adminAudit.entries')}
        filtered={filtered ? clear : null}
        empty={
          <EmptyState title={t('adminAudit.noEntriesYet')} className="rounded-lg border border-line">
            {t('adminAudit.signInsKeysRoleChanges')}
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
        title={shown === undefined ? '' : actionWords(t, shown.entry.action)}
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
function withNames({
  data,
  page,
  names = {},
}: Omit<AuditList, 'names'> & { names?: Readonly<Record<string, string>> }) {
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
  const t = useTranslations();
  return (
    <Table
      label={t('adminAudit.auditEntries')}
      rows={rows}
      rowKey={({ entry }) => entry.id}
      current={current}
      columns={[
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
          cell: (shown) => <Target {...shown} />,
        },
        {
          label: t('adminAudit.address'),
          phone: 'hidden',
          cell: ({ entry }) => <span className="text-xs">{entry.address ?? '—'}</span>,
        },
        { label: t('adminAudit.time'), cell: ({ entry }) => <Ago at={entry.createdAt} /> },
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
