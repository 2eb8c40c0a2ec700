'use client';
import { ApproveDevice, DEFAULT_API_KEY_DAYS, type DeviceRequest } from '@slipway/contracts/identity';
import { type Org, type Permission, ROLE_PERMISSIONS } from '@slipway/contracts/organizations';
import { Button, Field, Notice, Select } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { api } from '../../api/client.ts';
import { asAgo } from '../../browser/ago.tsx';
import { useStored } from '../../browser/stored.ts';
import { ScopesField } from '../admin-api-keys/scopes-field.tsx';
import { ErrorNotice, FormFailure } from '../form/form-failure.tsx';
import { useForm } from '../form/use-form.ts';
import { AloneCard } from '../frame/alone-card.tsx';
import { LAST_ORG, lastOrg } from '../frame/last-org.ts';
import { useMe } from '../session/me.ts';
import { SwitchAccountButton } from '../session/switch-account-button.tsx';

/** How long a program's key may last. Days. */
const DAYS = [1, 7, 30, DEFAULT_API_KEY_DAYS, 365];

/** What may be offered: what the user holds there and, when the program has named something, nothing beyond that. */
function offeredIn(org: Org | undefined, request: DeviceRequest): readonly Permission[] {
  const held = org?.permissions ?? [];
  return request.scopes.length === 0 ? held : held.filter((permission) => request.scopes.includes(permission));
}

/** What is ticked before anybody has chosen: what was asked for, else what a member needs to work. */
function proposedIn(org: Org | undefined, request: DeviceRequest): readonly Permission[] {
  const work: readonly Permission[] = ROLE_PERMISSIONS.member;
  const offered = offeredIn(org, request);
  return request.scopes.length === 0 ? offered.filter((permission) => work.includes(permission)) : offered;
}

/** Who asks, for which organization, what it may do there and how long. */
export function ApproveForm({
  request,
  onDone,
}: {
  request: DeviceRequest;
  onDone: (done: 'approved' | 'denied') => void;
}) {
  const t = useTranslations();
  const me = useMe().data;
  const [last] = useStored(LAST_ORG, '');
  const orgs = (me?.orgs ?? []).filter((org) => org.deletesAt === null);
  const first = lastOrg({ orgs }, last);
  const form = useForm({
    initial: { org: first?.id ?? '', scopes: proposedIn(first, request), expiresInDays: String(DEFAULT_API_KEY_DAYS) },
    schema: ApproveDevice,
    requestOf: ({ org, scopes, expiresInDays }) => ({ org, scopes, expiresInDays: Number(expiresInDays) }),
    send: (body) => api.approveDevice({ userCode: request.userCode, body }),
    onDone: () => onDone('approved'),
  });
  const deny = useMutation({
    mutationFn: () => api.denyDevice({ userCode: request.userCode }),
    onSuccess: () => onDone('denied'),
  });
  const org = orgs.find((candidate) => candidate.id === form.values.org);
  return (
    <AloneCard title={t('device.connectThisDevice')}>
      <p>
        {t.rich('device.asksForAccessToYour', {
          client: request.client,
          b: (chunks) => <strong className="font-medium break-words">{chunks}</strong>,
          createdAt: request.createdAt,
          ago: asAgo,
          address: request.address === null ? '' : t('device.from', { address: request.address }),
          userCode: request.userCode,
          code: (chunks) => <code className="font-mono">{chunks}</code>,
        })}
      </p>
      <Notice tone="warn" title={t('device.continueOnlyIfYouStarted')}>
        {t('device.theDevicesNameIsNot')}
      </Notice>
      <form {...form.props} className="flex flex-col gap-4">
        <Field label={t('common.organization')} error={form.error('org')}>
          {(control) => (
            <Select
              {...control}
              options={orgs.map((each) => ({ value: each.id, label: each.name }))}
              value={form.values.org}
              onChange={(id) => {
                form.set('org', id);
                form.set(
                  'scopes',
                  proposedIn(
                    orgs.find((each) => each.id === id),
                    request,
                  ),
                );
              }}
            />
          )}
        </Field>
        <ScopesField
          offered={offeredIn(org, request)}
          chosen={form.values.scopes}
          error={form.error('scopes') === null ? null : t('device.chooseAtLeastOnePermission')}
          onChange={(scopes) => form.set('scopes', scopes)}
        />
        <Field label={t('device.accessFor')} hint={t('device.youCanRevokeAccessAt')}>
          {(control) => (
            <Select
              {...control}
              options={DAYS.map((days) => ({ value: String(days), label: t('device.keyLasts', { days }) }))}
              value={form.values.expiresInDays}
              onChange={(days) => form.set('expiresInDays', days)}
            />
          )}
        </Field>
        <FormFailure failure={form.failure} />
        <ErrorNotice error={deny.error} />
        <div className="flex gap-2">
          <Button size="large" className="flex-1" busy={deny.isPending} onClick={() => deny.mutate()}>
            {t('device.deny')}
          </Button>
          <Button type="submit" tone="primary" size="large" className="flex-1" busy={form.busy}>
            {t('device.allow')}
          </Button>
        </div>
      </form>
      <p className="text-sm text-ink-muted">
        {t.rich('device.youAreSignedInAs', {
          email: me?.email ?? me?.name ?? '',
          span: (chunks) => <span className="break-all">{chunks}</span>,
        })}
      </p>
      <SwitchAccountButton />
    </AloneCard>
  );
}
