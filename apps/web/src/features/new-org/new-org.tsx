'use client';
import { CreateOrg } from '@slipway/contracts/organizations';
import { Button, Field, Input } from '@slipway/ui';
import { useRouter } from 'next/navigation';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { FormFailure } from '../form/form-failure.tsx';
import { useForm } from '../form/use-form.ts';
import { AloneCard } from '../frame/alone-card.tsx';
import { useMyOrgs } from '../session/my-orgs.ts';
import { SignedIn } from '../session/signed-in.tsx';
import { slugOf } from './slug-of.ts';

export function NewOrg() {
  return <SignedIn>{() => <NewOrgForm />}</SignedIn>;
}

function NewOrgForm() {
  const t = useTranslations();
  const router = useRouter();
  const { put } = useMyOrgs();
  /** The address follows the name until it is typed itself. */
  const [typed, setTyped] = useState(false);
  const form = useForm({
    initial: { name: '', slug: '' },
    schema: CreateOrg,
    // One that was only made of the name is left to the server, which puts a number behind it when it is taken.
    requestOf: ({ name, slug }) => ({ name, ...(typed && slug !== '' ? { slug } : {}) }),
    send: (body, idempotencyKey) => api.createOrg({ body, idempotencyKey }),
    onDone: async (org) => {
      await put(org);
      router.push(`/${org.slug}/admin/members`);
    },
  });
  return (
    <AloneCard title={t('newOrg.createOrganization')}>
      <p className="text-sm text-ink-muted">{t('newOrg.membersShareConversationsKeysAnd')}</p>
      <form {...form.props} className="flex flex-col gap-4">
        <Field label={t('common.name')} error={form.error('name')}>
          {(control) => (
            <Input
              {...control}
              maxLength={80}
              autoComplete="organization"
              placeholder={t('newOrg.acme')}
              value={form.values.name}
              onChange={(event) => {
                form.set('name', event.target.value);
                if (!typed) form.set('slug', slugOf(event.target.value));
              }}
            />
          )}
        </Field>
        <Field label={t('common.address')} error={form.error('slug')} hint={t('newOrg.theFirstPartOfIts')}>
          {(control) => (
            <Input
              {...control}
              maxLength={40}
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              placeholder={t('newOrg.acme2')}
              value={form.values.slug}
              onChange={(event) => {
                setTyped(event.target.value !== '');
                form.set('slug', event.target.value);
              }}
            />
          )}
        </Field>
        <FormFailure failure={form.failure} />
        <div className="flex justify-end gap-2">
          <Button onClick={() => router.back()}>{t('common.cancel')}</Button>
          <Button type="submit" tone="primary" busy={form.busy}>
            {t('common.create')}
          </Button>
        </div>
      </form>
    </AloneCard>
  );
}
