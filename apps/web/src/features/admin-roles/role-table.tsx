'use client';
import { PERMISSIONS, type Permission, ROLE_PERMISSIONS, ROLES, type Role } from '@slipway/contracts';
import { type Column, Table } from '@slipway/ui';
import { Check } from 'lucide-react';
import Link from 'next/link';
import { ROLE_HINTS, ROLE_LABELS } from '../admin/roles.ts';
import { Page } from '../frame/page.tsx';
import { useSession } from '../session/me.ts';

/** From the most to the least. */
const SHOWN: readonly Role[] = [...ROLES].reverse();

const COLUMNS: Column<Permission>[] = [
  { label: 'Permission', phone: 'title', cell: (permission) => <code className="font-mono text-xs">{permission}</code> },
  ...SHOWN.map((role) => ({
    label: ROLE_LABELS[role],
    className: 'md:w-28',
    cell: (permission: Permission) =>
      (ROLE_PERMISSIONS[role] as readonly Permission[]).includes(permission) ? (
        <span>
          <Check aria-hidden className="inline size-4 text-ok" />
          <span className="sr-only">Yes</span>
        </span>
      ) : (
        <span>
          <span aria-hidden className="text-ink-muted">
            –
          </span>
          <span className="sr-only">No</span>
        </span>
      ),
  })),
];

/** What each role may do: the same table by which the server decides. */
export function RoleTable() {
  const { org } = useSession();
  return (
    <Page
      title="Roles"
      description={
        <>
          What each role may do. Roles are fixed; they are given out under{' '}
          <Link href={`/${org.slug}/admin/members`} className="text-accent underline underline-offset-2">
            Members
          </Link>
          .
        </>
      }
    >
      <dl className="grid gap-x-6 gap-y-3 sm:grid-cols-2 xl:grid-cols-4">
        {SHOWN.map((role) => (
          <div key={role}>
            <dt className="text-sm font-semibold">{ROLE_LABELS[role]}</dt>
            <dd className="text-sm text-ink-muted">{ROLE_HINTS[role]}</dd>
          </div>
        ))}
      </dl>
      <Table label="Permissions by role" columns={COLUMNS} rows={PERMISSIONS} rowKey={(permission) => permission} />
    </Page>
  );
}
