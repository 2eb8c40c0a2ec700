'use client';
import type { Member } from '@slipway/contracts/organizations';
import { Button, ConfirmDialog, Notice, Section } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { ROLE_LABELS } from '../admin/roles.ts';
import { ErrorNotice } from '../form/form-failure.tsx';
import { ListPanel } from '../list/list-panel.tsx';
import { SearchField } from '../list/search-field.tsx';
import { usePages } from '../list/use-pages.ts';
import { useSession } from '../session/me.ts';
import { useMyOrgs } from '../session/my-orgs.ts';

/** Hands the organization to a member: they become an owner, and whoever does it an admin. */
export function TransferSection() {
  const t = useTranslations();
  const { me, org } = useSession();
  const { put } = useMyOrgs();
  const [choosing, setChoosing] = useState(false);
  const [search, setSearch] = useState('');
  const [chosen, setChosen] = useState<Member | null>(null);
  const list = usePages({
    key: ['members', org.id, search.trim(), 'transfer'],
    read: (cursor, signal) =>
      api.listMembers({
        org: org.id,
        query: { limit: 20, ...(search.trim() === '' ? {} : { search: search.trim() }), ...cursor },
        signal,
      }),
    enabled: choosing,
  });
  const others = { ...list, rows: list.rows.filter((member) => member.userId !== me.id && !member.deactivated) };
  const transfer = useMutation({
    mutationFn: (member: Member) => api.transferOrg({ org: org.id, body: { userId: member.userId } }),
    onSuccess: async (answer, member) => {
      setChosen(null);
      setChoosing(false);
      toast.success(t('adminDanger.nowOwnsYouAreAn', { name: member.name, name2: org.name }));
      await put(answer);
    },
  });
  return (
    <Section title={t('adminDanger.transferOwnership')} description={t('adminDanger.aMemberBecomesTheOwner')}>
      <div className="flex flex-col gap-3 rounded-lg border border-line bg-surface p-4">
        {choosing ? (
          <>
            <SearchField
              label={t('adminDanger.searchUsers')}
              value={search}
              onChange={setSearch}
              className="max-w-72"
            />
            <ListPanel
              list={others}
              noun={t('adminDanger.people')}
              empty={
                <Notice title={t('adminDanger.thereAreNoOtherMembers')}>
                  {t('adminDanger.inviteSomeoneUnderMembersFirst')}
                </Notice>
              }
              filtered={search.trim() === '' ? null : () => setSearch('')}
            >
              {(rows) => (
                <ul
                  aria-label={t('common.users')}
                  className="max-h-72 divide-y divide-line overflow-auto rounded-md border border-line"
                >
                  {rows.map((member) => (
                    <MemberRow key={member.userId} member={member} onChoose={() => setChosen(member)} />
                  ))}
                </ul>
              )}
            </ListPanel>
          </>
        ) : (
          <Button tone="danger" className="self-start" onClick={() => setChoosing(true)}>
            {t('adminDanger.chooseANewOwner')}
          </Button>
        )}
      </div>
      {chosen === null ? null : (
        <ConfirmDialog
          open
          onOpenChange={(open) => {
            if (!open) setChosen(null);
            transfer.reset();
          }}
          title={t('adminDanger.transferTo', { name: org.name, name2: chosen.name })}
          confirmLabel={t('adminDanger.transferOwnership')}
          busy={transfer.isPending}
          onConfirm={() => transfer.mutate(chosen)}
        >
          <p>
            {t('adminDanger.becomesTheOwnerAndYou', {
              name: chosen.name,
              email: chosen.email === null ? '' : `(${chosen.email}) `,
              name2: org.name,
            })}
          </p>
          <ErrorNotice error={transfer.error} />
        </ConfirmDialog>
      )}
    </Section>
  );
}

function MemberRow({ member, onChoose }: { member: Member; onChoose: () => void }) {
  const t = useTranslations();
  return (
    <li className="flex items-center gap-3 px-3 py-2">
      <span className="min-w-0 flex-1 text-sm">
        <span className="block truncate font-medium">{member.name}</span>
        <span className="block truncate text-xs text-ink-muted">
          {t(ROLE_LABELS[member.role])} · {member.email ?? t('adminDanger.noEMailAddress')}
        </span>
      </span>
      <Button size="small" aria-label={t('adminDanger.choose', { name: member.name })} onClick={onChoose}>
        {t('adminDanger.choose2')}
      </Button>
    </li>
  );
}
