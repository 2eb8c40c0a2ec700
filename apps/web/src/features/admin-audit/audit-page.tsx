'use client';
import { downloadUrls } from '@slipway/api-client';
import { type AuditPage as AuditList, AuditQuery } from '@slipway/contracts/audit';
import { Button, Dialog, EmptyState } from '@slipway/ui';
import { Download } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { api } from '../../api/client.ts';
import { useAddressValue } from '../../browser/address.ts';
import { Page } from '../frame/page.tsx';
import { ListPanel } from '../list/list-panel.tsx';
import { usePages } from '../list/use-pages.ts';
import { useSession } from '../session/me.ts';
import { actionWords } from './action-words.ts';
import { isBackward, rangeOfDays } from './day-range.ts';
import { Entries, type Shown } from './entries.tsx';
import { EntryDetails } from './entry-details.tsx';
import { Filters } from './filters.tsx';
import { VerifyChain } from './verify-button.tsx';

export function AuditPage() {
  const t = useTranslations();
  const { org } = useSession();
  const [action, setAction] = useAddressValue('action');
  const [actor, setActor] = useAddressValue('actor');
  const [target, setTarget] = useAddressValue('target');
  const [opened, setOpened] = useAddressValue('entry');
  const [from, setFrom] = useAddressValue('from');
  const [to, setTo] = useAddressValue('to');
  const asked = {
    ...(action ? { action } : {}),
    ...(actor ? { actor } : {}),
    ...(target ? { target } : {}),
    ...rangeOfDays(from, to),
  };
  // A filter that is no filter yet, such as half an action, finds nothing rather than everything.
  const sound = AuditQuery.safeParse(asked).success && !isBackward(from, to);
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
    setFrom(null);
    setTo(null);
  };
  const names = Object.assign({}, ...entries.rows.map((row) => row.names)) as Readonly<Record<string, string>>;
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
      <Filters
        values={{ action, actor, target, from, to }}
        names={names}
        onAction={(value) => setAction(value, 'push')}
        onActor={(value) => setActor(value, 'push')}
        onTarget={(value) => setTarget(value, 'push')}
        onFrom={setFrom}
        onTo={setTo}
      />
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
            onTarget={(id) => setTarget(id, 'push')}
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

/** A server of the version before knows no names. */
function withNames({
  data,
  page,
  names = {},
}: Omit<AuditList, 'names'> & { names?: Readonly<Record<string, string>> }) {
  return { data: data.map((entry): Shown => ({ entry, names })), page };
}
