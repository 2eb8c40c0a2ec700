'use client';
import { CreateServiceAccount, SERVICE_ACCOUNT_ROLES, type ServiceAccount } from '@slipway/contracts/identity';
import { Button, ConfirmDialog, Dialog, EmptyState, Field, Input, Section, Select, Table } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
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
  const t = useTranslations();
  const { org } = useSession();
  const [creating, setCreating] = useState(false);
  const [deleting, setDeleting] = useState<ServiceAccount | null>(null);
  const mayChange = org.permissions.includes('service-account:write');
  return (
    <Section
      title={t('adminApiKeys.serviceAccounts')}
      description={t('adminApiKeys.identitiesForProgramsThatKeep')}
      action={
        mayChange ? <Button onClick={() => setCreating(true)}>{t('adminApiKeys.newServiceAccount')}</Button> : null
      }
    >
      <ListPanel
        list={accounts}
        noun={t('adminApiKeys.serviceAccounts2')}
        empty={
          <EmptyState title={t('adminApiKeys.noServiceAccounts')} className="rounded-lg border border-line">
            {t('adminApiKeys.createOneForAPipeline')}
          </EmptyState>
        }
      >
        {(rows) => (
          <Table
            label={t('adminApiKeys.serviceAccounts')}
            rows={rows}
            rowKey={(account) => account.id}
            columns={[
              {
                label: t('common.name'),
                phone: 'title',
                cell: (account) => <span className="font-medium break-words">{account.name}</span>,
              },
              { label: t('common.role'), cell: (account) => t(ROLE_LABELS[account.role]) },
              {
                label: t('adminApiKeys.activeKeys'),
                align: 'end',
                cell: (account) => <span className="tabular-nums">{account.liveKeys}</span>,
              },
              {
                label: t('adminApiKeys.lastUsed'),
                cell: (account) =>
                  account.lastUsedAt === null ? (
                    <span className="text-ink-muted">{t('common.never')}</span>
                  ) : (
                    <Ago at={account.lastUsedAt} />
                  ),
              },
              { label: t('adminApiKeys.createdBy'), phone: 'hidden', cell: (account) => account.createdBy.label },
              {
                label: t('common.actions'),
                unnamed: true,
                align: 'end',
                phone: 'actions',
                cell: (account) =>
                  mayChange ? (
                    <Button
                      size="small"
                      tone="danger"
                      aria-label={t('adminApiKeys.delete', { name: account.name })}
                      onClick={() => setDeleting(account)}
                    >
                      {t('common.delete2')}
                    </Button>
                  ) : null,
              },
            ]}
          />
        )}
      </ListPanel>
      <Dialog open={creating} onOpenChange={setCreating} title={t('adminApiKeys.newServiceAccount')}>
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
  const t = useTranslations();
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
      <Field label={t('common.name')} error={form.error('name')}>
        {(control) => (
          <Input
            {...control}
            value={form.values.name}
            autoComplete="off"
            maxLength={100}
            onChange={(event) => form.set('name', event.target.value)}
          />
        )}
      </Field>
      <Field label={t('common.role')} error={form.error('role')}>
        {(control) => (
          <Select
            {...control}
            value={form.values.role}
            options={roleOptions(t, roles)}
            onChange={(role) => form.set('role', role as ServiceAccount['role'])}
          />
        )}
      </Field>
      <FormFailure failure={form.failure} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{t('common.cancel')}</Button>
        <Button type="submit" tone="primary" busy={form.busy}>
          {t('adminApiKeys.createServiceAccount')}
        </Button>
      </div>
    </form>
  );
}

function Delete({ account, onClose, onDone }: { account: ServiceAccount; onClose: () => void; onDone: () => void }) {
  const t = useTranslations();
  const { org } = useSession();
  const remove = useMutation({
    mutationFn: () => api.deleteServiceAccount({ org: org.id, account: account.id }),
    onSuccess: onDone,
  });
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => open || onClose()}
      title={t('common.delete3', { name: account.name })}
      confirmLabel={t('common.delete2')}
      busy={remove.isPending}
      onConfirm={() => remove.mutate()}
    >
      <p>{t('adminApiKeys.itsConversationsStayWithThe', { liveKeys: account.liveKeys })}</p>
      <ErrorNotice error={remove.error} />
    </ConfirmDialog>
  );
}
