'use client';
import { type Member, ROLES, type Role } from '@slipway/contracts/organizations';
import { Badge, Button, type Column, EmptyState, IconButton, Select, Table } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { Download, UserMinus } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { toast } from 'sonner';
import { z } from 'zod';
import { api } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { useAddressValue } from '../../browser/address.ts';
import { Ago } from '../../browser/ago.tsx';
import { money } from '../../browser/format.ts';
import { type MessageKey, type Option, translated } from '../../messages/translate.ts';
import { isAbove, ROLE_LABELS, roleOptions, rolesToGive } from '../admin/roles.ts';
import { saveFile } from '../list/csv.ts';
import { ListPanel } from '../list/list-panel.tsx';
import { SearchField } from '../list/search-field.tsx';
import { usePages } from '../list/use-pages.ts';
import { useSession } from '../session/me.ts';
import { membersCsv } from './members-csv.ts';
import { RemoveDialog } from './remove-dialog.tsx';
import { useSetRole } from './use-set-role.ts';

const ALL = 'all';
const ROLE_FILTERS: readonly Option[] = [
  { value: ALL, label: 'adminMembers.allRoles' },
  ...ROLES.map((role) => ({ value: role, label: ROLE_LABELS[role] })),
];
const SOURCES: Record<Member['source'], MessageKey> = {
  founder: 'adminMembers.founder',
  invitation: 'adminMembers.invitation',
  domain: 'adminMembers.domain',
};

/** Everybody in the organization, last joined first. */
export function People() {
  const t = useTranslations();
  const { org } = useSession();
  const [search, setSearch] = useAddressValue('search');
  const [roleName, setRole] = useAddressValue('role');
  const role = z.enum(ROLES).safeParse(roleName).data;
  const filter = { ...(search === null ? {} : { search }), ...(role === undefined ? {} : { role }) };
  const list = usePages({
    key: ['members', org.id, search ?? '', role ?? ALL],
    read: (cursor, signal) => api.listMembers({ org: org.id, query: { limit: 100, ...filter, ...cursor }, signal }),
  });
  const [leaving, setLeaving] = useState<Member | null>(null);
  const save = useMutation({
    mutationFn: () =>
      membersCsv((cursor) => api.listMembers({ org: org.id, query: { limit: 200, ...filter, ...cursor } })),
    onSuccess: (csv) => saveFile(`${org.slug}-members.csv`, csv),
    onError: (error) => toast.error(t('adminMembers.theListWasNotExported', { title: failureOf(error).title })),
  });
  const clear = () => {
    setSearch(null);
    setRole(null);
  };
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <SearchField
          label={t('adminMembers.searchUsers')}
          value={search ?? ''}
          onChange={(value) => setSearch(value.trim() === '' ? null : value.trim())}
          className="min-w-48 flex-1 sm:max-w-72"
        />
        <Select
          aria-label={t('common.role')}
          className="w-36"
          options={translated(t, ROLE_FILTERS)}
          value={role ?? ALL}
          onChange={(value) => setRole(value === ALL ? null : value, 'push')}
        />
        <Button className="ml-auto" busy={save.isPending} onClick={() => save.mutate()}>
          <Download aria-hidden /> {t('adminMembers.exportCsv')}
        </Button>
      </div>
      <ListPanel
        list={list}
        noun={t('adminMembers.users')}
        empty={
          <EmptyState title={t('adminMembers.noMembers')}>{t('adminMembers.anOrganizationAlwaysHasAt')}</EmptyState>
        }
        filtered={search !== null || role !== undefined ? clear : null}
      >
        {(rows) => <PeopleTable rows={rows} remove={setLeaving} />}
      </ListPanel>
      {leaving === null ? null : <RemoveDialog member={leaving} onClose={() => setLeaving(null)} />}
    </div>
  );
}

function PeopleTable({ rows, remove }: { rows: readonly Member[]; remove: (member: Member) => void }) {
  const t = useTranslations();
  const { me, org } = useSession();
  const may = (permission: (typeof org.permissions)[number]) => org.permissions.includes(permission);
  const columns: Column<Member>[] = [
    {
      label: t('common.user'),
      phone: 'title',
      cell: (member) => <User member={member} mine={member.userId === me.id} />,
    },
    {
      label: t('common.role'),
      className: 'md:w-40',
      cell: (member) => (
        <RoleOf
          member={member}
          fixed={!may('member:set-role') || member.userId === me.id || isAbove(member.role, org.role)}
        />
      ),
    },
    {
      label: t('adminMembers.joinedBy'),
      phone: 'hidden',
      cell: (member) => <span className="text-ink-muted">{t(SOURCES[member.source])}</span>,
    },
    {
      label: t('adminMembers.joined'),
      phone: 'hidden',
      cell: (member) => <Ago at={member.joinedAt} className="whitespace-nowrap text-ink-muted" />,
    },
    {
      label: t('adminMembers.lastActive2'),
      cell: (member) =>
        member.lastActiveAt === null ? (
          <span className="text-ink-muted">{t('adminMembers.never')}</span>
        ) : (
          <Ago at={member.lastActiveAt} className="whitespace-nowrap text-ink-muted" />
        ),
    },
  ];
  if (rows.some(({ spending }) => spending !== null))
    columns.push({
      label: t('adminMembers.spentThisMonth'),
      align: 'end',
      cell: ({ spending }) => (spending === null ? null : <Spent spending={spending} />),
    });
  if (may('member:remove') && org.kind === 'company')
    columns.push({
      label: t('common.actions'),
      unnamed: true,
      align: 'end',
      phone: 'actions',
      cell: (member) =>
        member.userId === me.id || isAbove(member.role, org.role) ? null : (
          <IconButton label={t('adminMembers.remove', { name: member.name })} onClick={() => remove(member)}>
            <UserMinus aria-hidden />
          </IconButton>
        ),
    });
  return <Table label={t('common.users')} columns={columns} rows={rows} rowKey={(member) => member.userId} />;
}

function User({ member, mine }: { member: Member; mine: boolean }) {
  const t = useTranslations();
  return (
    <span className="block min-w-0">
      <span className="flex flex-wrap items-center gap-2 font-medium">
        <span className="min-w-0 break-words">{member.name}</span>
        {mine ? <Badge>{t('common.you')}</Badge> : null}
        {member.deactivated ? <Badge tone="warn">{t('adminMembers.deactivated')}</Badge> : null}
      </span>
      <span className="block text-xs break-all text-ink-muted">{member.email ?? t('adminMembers.noEmailAddress')}</span>
    </span>
  );
}

/** To the cent, with the exact sum to point at. */
function Spent({ spending: { spentUsd, limitUsd } }: { spending: NonNullable<Member['spending']> }) {
  const t = useTranslations();
  return (
    <span className="whitespace-nowrap tabular-nums" title={`$${spentUsd}`}>
      {money(Number(spentUsd))}
      {limitUsd === null ? null : (
        <span className="text-ink-muted"> {t('adminMembers.of', { limitUsd: money(Number(limitUsd)) })}</span>
      )}
    </span>
  );
}

function RoleOf({ member, fixed }: { member: Member; fixed: boolean }) {
  const t = useTranslations();
  const { org } = useSession();
  const setRole = useSetRole();
  if (fixed) return <span>{t(ROLE_LABELS[member.role])}</span>;
  return (
    <Select
      aria-label={t('adminMembers.roleOf', { name: member.name })}
      className="w-32"
      options={roleOptions(t, rolesToGive(org.role))}
      value={member.role}
      onChange={(value) => setRole({ member, from: member.role, to: value as Role })}
    />
  );
}
