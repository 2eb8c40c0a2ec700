'use client';
import { type Permission, ROLE_PERMISSIONS, ROLES, type Role } from '@slipway/contracts/organizations';
import { type Column, Section, Table } from '@slipway/ui';
import { Check } from 'lucide-react';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import type { Translate } from '../../messages/translate.ts';
import { permissionWords } from '../admin/permission-words.ts';
import { ROLE_HINTS, ROLE_LABELS } from '../admin/roles.ts';
import { Page } from '../frame/page.tsx';
import { useSession } from '../session/me.ts';
import { PERMISSION_GROUPS } from './permission-groups.ts';

/** From the most to the least. */
const SHOWN: readonly Role[] = [...ROLES].reverse();

const columns = (t: Translate): Column<Permission>[] => [
  {
    label: t('adminRoles.permission'),
    phone: 'title',
    cell: (permission) => (
      <span className="block">
        {permissionWords(t, permission)}
        <code className="block font-mono text-xs text-ink-muted">{permission}</code>
      </span>
    ),
  },
  ...SHOWN.map((role) => ({
    label: t(ROLE_LABELS[role]),
    className: 'md:w-28',
    cell: (permission: Permission) =>
      (ROLE_PERMISSIONS[role] as readonly Permission[]).includes(permission) ? (
        <span>
          <Check aria-hidden className="inline size-4 text-ok" />
          <span className="sr-only">{t('adminRoles.yes')}</span>
        </span>
      ) : (
        <span>
          <span aria-hidden className="text-ink-muted">
            –
          </span>
          <span className="sr-only">{t('adminRoles.no')}</span>
        </span>
      ),
  })),
];

/** What each role may do: the same table by which the server decides, in the groups of these pages. */
export function RoleTable() {
  const t = useTranslations();
  const { org } = useSession();
  return (
    <Page
      title={t('common.roles')}
      description={t.rich('adminRoles.whatEachRoleCanDo', {
        link: (chunks) => (
          <Link href={`/${org.slug}/admin/members`} className="text-accent underline underline-offset-2">
            {chunks}
          </Link>
        ),
      })}
    >
      <dl className="grid gap-x-6 gap-y-3 sm:grid-cols-2 xl:grid-cols-4">
        {SHOWN.map((role) => (
          <div key={role}>
            <dt className="text-sm font-semibold">{t(ROLE_LABELS[role])}</dt>
            <dd className="text-sm text-ink-muted">{t(ROLE_HINTS[role])}</dd>
          </div>
        ))}
      </dl>
      <div className="flex flex-col gap-8">
        {PERMISSION_GROUPS.map(({ label, permissions }) => (
          <Section key={label} title={t(label)}>
            <Table
              label={t('adminRoles.permissionsFor', { group: t(label) })}
              columns={columns(t)}
              rows={permissions}
              rowKey={(permission) => permission}
            />
          </Section>
        ))}
      </div>
    </Page>
  );
}
