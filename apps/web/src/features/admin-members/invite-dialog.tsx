'use client';
import {
  CreateInvitations,
  type InvitationOutcome,
  type InvitationOutcomes,
  MAX_INVITED_AT_ONCE,
  type Role,
} from '@slipway/contracts/organizations';
import { Button, Dialog, Field, Select, Textarea } from '@slipway/ui';
import { useQueryClient } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { number } from '../../browser/format.ts';
import type { MessageKey } from '../../messages/translate.ts';
import { ROLE_HINTS, roleOptions, rolesToGive } from '../admin/roles.ts';
import { FormFailure } from '../form/form-failure.tsx';
import { CopyLine } from '../form/secret-box.tsx';
import { useForm } from '../form/use-form.ts';
import { useSession } from '../session/me.ts';
import { addressesOf } from './addresses.ts';

/** Invites many at once, then says of each what came of it. */
export function InviteDialog({ onClose }: { onClose: () => void }) {
  const t = useTranslations();
  const { org } = useSession();
  const [outcomes, setOutcomes] = useState<InvitationOutcomes['data'] | null>(null);
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={outcomes === null ? t('adminMembers.invitePeopleTo', { name: org.name }) : t('adminMembers.results')}
      className="w-[min(560px,calc(100vw-32px))]"
    >
      {outcomes === null ? (
        <InviteForm onClose={onClose} onSent={setOutcomes} />
      ) : (
        <Outcomes outcomes={outcomes} onClose={onClose} again={() => setOutcomes(null)} />
      )}
    </Dialog>
  );
}

function InviteForm({
  onClose,
  onSent,
}: {
  onClose: () => void;
  onSent: (outcomes: InvitationOutcomes['data']) => void;
}) {
  const t = useTranslations();
  const { org } = useSession();
  const queries = useQueryClient();
  const form = useForm({
    initial: { emails: '', role: 'member' as Role, message: '' },
    schema: CreateInvitations,
    requestOf: ({ emails, role, message }) => ({
      emails: addressesOf(emails),
      role,
      ...(message.trim() === '' ? {} : { message }),
    }),
    send: (body) => api.createInvitations({ org: org.id, body }),
    onDone: ({ data }) => {
      void queries.invalidateQueries({ queryKey: ['invitations', org.id] });
      onSent(data);
    },
  });
  const count = addressesOf(form.values.emails).length;
  const wrong =
    count > MAX_INVITED_AT_ONCE
      ? t('adminMembers.addressesEnteredYouCanInvite', { count: number(count), max: MAX_INVITED_AT_ONCE })
      : form.error('emails') === null
        ? null
        : t('adminMembers.enterAtLeastOneEmail');
  return (
    <form {...form.props} className="flex flex-col gap-4 p-4">
      <Field
        label={t('adminMembers.emailAddresses')}
        error={wrong}
        hint={
          count === 0 ? t('adminMembers.separateAddressesWithCommasSpaces') : t('adminMembers.addressCount', { count })
        }
      >
        {(control) => (
          <Textarea
            {...control}
            rows={4}
            data-autofocus
            autoComplete="off"
            spellCheck={false}
            placeholder={t('adminMembers.adaExampleComGraceExample')}
            value={form.values.emails}
            onChange={(event) => form.set('emails', event.target.value)}
          />
        )}
      </Field>
      <Field label={t('common.role')} hint={t(ROLE_HINTS[form.values.role])}>
        {(control) => (
          <Select
            {...control}
            options={roleOptions(t, rolesToGive(org.role))}
            value={form.values.role}
            onChange={(role) => form.set('role', role as Role)}
          />
        )}
      </Field>
      <Field label={t('adminMembers.messageOptional')} error={form.error('message')}>
        {(control) => (
          <Textarea
            {...control}
            rows={2}
            maxLength={500}
            value={form.values.message}
            onChange={(event) => form.set('message', event.target.value)}
          />
        )}
      </Field>
      <FormFailure failure={form.failure} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{t('common.cancel')}</Button>
        <Button type="submit" tone="primary" busy={form.busy} disabled={count > MAX_INVITED_AT_ONCE}>
          {t('adminMembers.invite')}
        </Button>
      </div>
    </form>
  );
}

const WORDS: Record<InvitationOutcome['outcome'], MessageKey> = {
  invited: 'adminMembers.invited',
  'already-member': 'adminMembers.alreadyAMember',
  'already-invited': 'adminMembers.alreadyInvitedResendItUnder',
  invalid: 'adminMembers.notAnEmailAddress',
};

function Outcomes({
  outcomes,
  onClose,
  again,
}: {
  outcomes: InvitationOutcomes['data'];
  onClose: () => void;
  again: () => void;
}) {
  const t = useTranslations();
  const links = outcomes.filter((outcome) => outcome.link !== null);
  return (
    <div className="flex flex-col gap-4 p-4">
      {links.length === 0 ? null : <p className="text-sm">{t('adminMembers.thisInstallationSendsNoEmailSo')}</p>}
      <ul className="flex flex-col gap-3">
        {outcomes.map((outcome) => (
          <li key={outcome.email} className="flex flex-col gap-1 text-sm">
            <span className="flex flex-wrap justify-between gap-x-3">
              <span className="min-w-0 font-medium break-all">{outcome.email}</span>
              <span className={outcome.outcome === 'invited' ? 'text-ok' : 'text-warn'}>
                {outcome.outcome === 'invited' && outcome.sent
                  ? t('adminMembers.invitedByEmail')
                  : t(WORDS[outcome.outcome])}
              </span>
            </span>
            {outcome.link === null ? null : (
              <CopyLine label={t('adminMembers.linkFor', { email: outcome.email })} text={outcome.link} />
            )}
          </li>
        ))}
      </ul>
      {links.length > 1 ? (
        <CopyLine
          label={t('adminMembers.allLinksOnePerLine')}
          text={links.map((outcome) => `${outcome.email} ${outcome.link}`).join('\n')}
        />
      ) : null}
      <div className="flex justify-end gap-2">
        <Button onClick={again}>{t('adminMembers.inviteMore')}</Button>
        <Button tone="primary" onClick={onClose}>
          {t('common.done')}
        </Button>
      </div>
    </div>
  );
}
