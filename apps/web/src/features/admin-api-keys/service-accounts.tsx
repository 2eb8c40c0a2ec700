'use client';
import { CreateServiceAccount, SERVICE_ACCOUNT_ROLES, type ServiceAccount } from '@slipway/contracts';
import { Button, ConfirmDialog, Dialog, EmptyState, Field, Input, Section, Select, Table } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { Ago } from '../../browser/ago.tsx';
import { isAbove, ROLE_LABELS, roleOptions } from '../admin/roles.ts';
import { ErrorNotice, FormFailure } from '../form/form-failure.tsx';
import { useForm } from '../form/use-form.ts';
import { ListPanel } from '../list/list-panel.tsx';
import type { Pages } from '../list/use-pages.ts';
import { useSession } from '../session/me.ts';

/** Who programs are when they are nobody's own. */
export function ServiceAccounts({ accounts, onChanged }: { accounts: Pages<ServiceAccount>; onChanged: () => void }) {
  const { org } = useSession();
  const [creating, setCreating] = useState(false);
  const [deleting, setDeleting] = useState<ServiceAccount | null>(null);
  const mayChange = org.permissions.includes('service-account:write');
  return (
    <Section
      title="Service accounts"
      description="For programs that must not stop when a person leaves. Each has a role; its keys can do what that role can, and no more than was given to them."
      action={mayChange ? <Button onClick={() => setCreating(true)}>New service account</Button> : null}
    >
      <ListPanel
        list={accounts}
        noun="service accounts"
        empty={
          <EmptyState title="No service accounts" className="rounded-lg border border-line">
            Make one for a pipeline or a bot, then give it an API key.
          </EmptyState>
        }
      >
        {(rows) => (
          <Table
            label="Service accounts"
            rows={rows}
            rowKey={(account) => account.id}
            columns={[
              { label: 'Name', phone: 'title', cell: (account) => <span className="font-medium break-words">{account.name}</span> },
              { label: 'Role', cell: (account) => ROLE_LABELS[account.role] },
              { label: 'Live keys', align: 'end', cell: (account) => <span className="tabular-nums">{account.liveKeys}</span> },
              {
                label: 'Last used',
                cell: (account) => (account.lastUsedAt === null ? <span className="text-ink-muted">never</span> : <Ago at={account.lastUsedAt} />),
              },
              { label: 'Made by', phone: 'hidden', cell: (account) => account.createdBy.label },
              {
                label: 'Actions',
                unnamed: true,
                align: 'end',
                phone: 'actions',
                cell: (account) =>
                  mayChange ? (
                    <Button size="small" tone="danger" aria-label={`Delete ${account.name}`} onClick={() => setDeleting(account)}>
                      Delete
                    </Button>
                  ) : null,
              },
            ]}
          />
        )}
      </ListPanel>
      <Dialog open={creating} onOpenChange={setCreating} title="New service account">
        <Create
          onClose={() => setCreating(false)}
          onMade={() => {
            setCreating(false);
            onChanged();
          }}
        />
      </Dialog>
      {deleting === null ? null : (
        <Delete
          account={deleting}
          onClose={() => setDeleting(null)}
          onDone={() => {
            setDeleting(null);
            onChanged();
          }}
        />
      )}
    </Section>
  );
}

function Create({ onClose, onMade }: { onClose: () => void; onMade: () => void }) {
  const { org } = useSession();
  // A service account is given at most what its maker has.
  const roles = SERVICE_ACCOUNT_ROLES.filter((role) => !isAbove(role, org.role));
  const form = useForm({
    initial: { name: '', role: 'member' as ServiceAccount['role'] },
    schema: CreateServiceAccount,
    requestOf: (values) => values,
    send: (body) => api.createServiceAccount({ org: org.id, body }),
    onDone: onMade,
  });
  return (
    <form {...form.props} className="flex flex-col gap-4 p-4">
      <Field label="Name" error={form.error('name')}>
        {(control) => (
          <Input {...control} value={form.values.name} autoComplete="off" maxLength={100} onChange={(event) => form.set('name', event.target.value)} />
        )}
      </Field>
      <Field label="Role" error={form.error('role')}>
        {(control) => (
          <Select {...control} value={form.values.role} options={roleOptions(roles)} onChange={(role) => form.set('role', role as ServiceAccount['role'])} />
        )}
      </Field>
      <FormFailure failure={form.failure} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" tone="primary" busy={form.busy}>
          Make it
        </Button>
      </div>
    </form>
  );
}

function Delete({ account, onClose, onDone }: { account: ServiceAccount; onClose: () => void; onDone: () => void }) {
  const { org } = useSession();
  const remove = useMutation({ mutationFn: () => api.deleteServiceAccount({ org: org.id, account: account.id }), onSuccess: onDone });
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => open || onClose()}
      title={`Delete ${account.name}?`}
      confirmLabel="Delete"
      busy={remove.isPending}
      onConfirm={() => remove.mutate()}
    >
      <p>
        {account.liveKeys === 0
          ? 'It has no key that works.'
          : account.liveKeys === 1
            ? 'Its key stops working within two seconds.'
            : `Its ${account.liveKeys} keys stop working within two seconds.`}{' '}
        Its conversations stay with the organization.
      </p>
      <ErrorNotice error={remove.error} />
    </ConfirmDialog>
  );
}
