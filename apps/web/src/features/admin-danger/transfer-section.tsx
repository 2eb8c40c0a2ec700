'use client';
import type { Member } from '@slipway/contracts';
import { Button, ConfirmDialog, Notice, Section } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
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
  const { me, org } = useSession();
  const { put } = useMyOrgs();
  const [choosing, setChoosing] = useState(false);
  const [search, setSearch] = useState('');
  const [chosen, setChosen] = useState<Member | null>(null);
  const list = usePages({
    key: ['members', org.id, search.trim(), 'transfer'],
    read: (cursor, signal) =>
      api.listMembers({ org: org.id, query: { limit: 20, ...(search.trim() === '' ? {} : { search: search.trim() }), ...cursor }, signal }),
    enabled: choosing,
  });
  const others = { ...list, rows: list.rows.filter((member) => member.userId !== me.id && !member.deactivated) };
  const transfer = useMutation({
    mutationFn: (member: Member) => api.transferOrg({ org: org.id, body: { userId: member.userId } }),
    onSuccess: async (answer, member) => {
      setChosen(null);
      setChoosing(false);
      toast.success(`${member.name} owns ${org.name} now. You are an admin of it.`);
      await put(answer);
    },
  });
  return (
    <Section title="Hand it on" description="A member becomes its owner, and you become an admin.">
      <div className="flex flex-col gap-3 rounded-lg border border-line bg-surface p-4">
        {choosing ? (
          <>
            <SearchField label="Search people" value={search} onChange={setSearch} className="max-w-72" />
            <ListPanel
              list={others}
              noun="people"
              empty={<Notice title="There is nobody else in it.">Invite somebody under Members first.</Notice>}
              filtered={search.trim() === '' ? null : () => setSearch('')}
            >
              {(rows) => (
                <ul aria-label="People" className="max-h-72 divide-y divide-line overflow-auto rounded-md border border-line">
                  {rows.map((member) => (
                    <li key={member.userId} className="flex items-center gap-3 px-3 py-2">
                      <span className="min-w-0 flex-1 text-sm">
                        <span className="block truncate font-medium">{member.name}</span>
                        <span className="block truncate text-xs text-ink-muted">
                          {ROLE_LABELS[member.role]} · {member.email ?? 'no e-mail address'}
                        </span>
                      </span>
                      <Button size="small" aria-label={`Choose ${member.name}`} onClick={() => setChosen(member)}>
                        Choose
                      </Button>
                    </li>
                  ))}
                </ul>
              )}
            </ListPanel>
          </>
        ) : (
          <Button tone="danger" className="self-start" onClick={() => setChoosing(true)}>
            Choose a new owner
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
          title={`Hand ${org.name} to ${chosen.name}?`}
          confirmLabel="Hand it on"
          busy={transfer.isPending}
          onConfirm={() => transfer.mutate(chosen)}
        >
          <p>
            {chosen.name} {chosen.email === null ? '' : `(${chosen.email}) `}becomes an owner. You become an admin: only an owner can make you one again, delete{' '}
            {org.name} or hand it on.
          </p>
          <ErrorNotice error={transfer.error} />
        </ConfirmDialog>
      )}
    </Section>
  );
}
