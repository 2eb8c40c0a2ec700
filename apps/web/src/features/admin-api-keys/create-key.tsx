'use client';
import { CreateApiKey, type CreatedApiKey, type ServiceAccount } from '@slipway/contracts/identity';
import { type Permission, ROLE_PERMISSIONS } from '@slipway/contracts/organizations';
import { Button, Dialog, Field, Input, Select } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { ROLE_LABELS } from '../admin/roles.ts';
import { FormFailure } from '../form/form-failure.tsx';
import { CopyLine, SecretBox } from '../form/secret-box.tsx';
import { useForm } from '../form/use-form.ts';
import { useSession } from '../session/me.ts';
import { curlOf, LIVES } from './key-words.ts';
import { ScopesField } from './scopes-field.tsx';

const DAY_MS = 86_400_000;
const MINE = 'mine';

interface Values {
  name: string;
  owner: string;
  days: string;
  scopes: readonly Permission[];
}

/** Makes a key; then the same dialog shows its token, once. */
export function CreateKeyDialog({
  open,
  accounts,
  onClose,
  onMade,
}: {
  open: boolean;
  accounts: readonly ServiceAccount[];
  onClose: () => void;
  onMade: () => void;
}) {
  const t = useTranslations();
  return (
    <Dialog open={open} onOpenChange={(next) => next || onClose()} title={t('adminApiKeys.newApiKey')}>
      <CreateKey accounts={accounts} onClose={onClose} onMade={onMade} />
    </Dialog>
  );
}

function CreateKey({
  accounts,
  onClose,
  onMade,
}: {
  accounts: readonly ServiceAccount[];
  onClose: () => void;
  onMade: () => void;
}) {
  const t = useTranslations();
  const { org } = useSession();
  const [made, setMade] = useState<CreatedApiKey | null>(null);
  const form = useForm({
    initial: { name: '', owner: MINE, days: '90', scopes: [] } as Values,
    schema: CreateApiKey,
    fields: ['expiresAt', 'serviceAccountId'],
    requestOf: (values) => ({
      name: values.name,
      scopes: values.scopes,
      expiresAt: new Date(Date.now() + Number(values.days) * DAY_MS).toISOString(),
      ...(values.owner === MINE ? {} : { serviceAccountId: values.owner }),
    }),
    send: (body) => api.createApiKey({ org: org.id, body }),
    onDone: (key) => {
      setMade(key);
      onMade();
    },
  });
  if (made !== null) return <MadeKey made={made} onClose={onClose} />;
  const account = accounts.find(({ id }) => id === form.values.owner);
  const offered =
    account === undefined ? org.permissions : org.permissions.filter((permission) => holds(account, permission));
  const choose = (owner: string) => {
    form.set('owner', owner);
    const next = accounts.find(({ id }) => id === owner);
    if (next !== undefined)
      form.set(
        'scopes',
        form.values.scopes.filter((scope) => holds(next, scope)),
      );
  };
  return (
    <form {...form.props} className="flex flex-col gap-4 p-4">
      <Field label={t('common.name')} hint={t('adminApiKeys.describeWhatWillUseThe')} error={form.error('name')}>
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
      {accounts.length === 0 ? null : (
        <OwnerField
          accounts={accounts}
          owner={form.values.owner}
          error={form.error('serviceAccountId')}
          onChange={choose}
        />
      )}
      <Field label={t('common.expires')} error={form.error('expiresAt')}>
        {(control) => (
          <Select
            {...control}
            value={form.values.days}
            options={LIVES.map((days) => ({ value: String(days), label: t('adminApiKeys.inDays', { days }) }))}
            onChange={(days) => form.set('days', days)}
          />
        )}
      </Field>
      <ScopesField
        offered={offered}
        chosen={form.values.scopes}
        error={form.error('scopes')}
        onChange={(scopes) => form.set('scopes', scopes)}
      />
      <FormFailure failure={form.failure} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{t('common.cancel')}</Button>
        <Button type="submit" tone="primary" busy={form.busy}>
          {t('adminApiKeys.createKey')}
        </Button>
      </div>
    </form>
  );
}

function OwnerField({
  accounts,
  owner,
  error,
  onChange,
}: {
  accounts: readonly ServiceAccount[];
  owner: string;
  error: string | null;
  onChange: (owner: string) => void;
}) {
  const t = useTranslations();
  return (
    <Field label={t('adminApiKeys.owner')} hint={t('adminApiKeys.aServiceAccountsKeyKeeps')} error={error}>
      {(control) => (
        <Select
          {...control}
          value={owner}
          options={[
            { value: MINE, label: t('common.mine') },
            ...accounts.map(({ id, name, role }) => ({
              value: id,
              label: t('adminApiKeys.serviceAccount', { name, role: t(ROLE_LABELS[role]) }),
            })),
          ]}
          onChange={onChange}
        />
      )}
    </Field>
  );
}

function holds({ role }: ServiceAccount, permission: Permission): boolean {
  return (ROLE_PERMISSIONS[role] as readonly Permission[]).includes(permission);
}

/** The only place where the token ever is. */
export function MadeKey({ made, onClose, note }: { made: CreatedApiKey; onClose: () => void; note?: string }) {
  const t = useTranslations();
  const { org } = useSession();
  return (
    <div className="flex flex-col gap-4 p-4">
      <SecretBox label={t('adminApiKeys.tokenOf', { name: made.name })} secret={made.token}>
        <CopyLine label={t('adminApiKeys.tryIt')} text={curlOf(window.location.origin, made.token, org.slug)} />
      </SecretBox>
      {note ? <p className="text-sm text-ink-muted">{note}</p> : null}
      <Button tone="primary" className="self-end" onClick={onClose}>
        {t('adminApiKeys.done')}
      </Button>
    </div>
  );
}
