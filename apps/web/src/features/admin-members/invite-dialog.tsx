'use client';
import { CreateInvitations, type InvitationOutcome, type InvitationOutcomes, MAX_INVITED_AT_ONCE, type Role } from '@slipway/contracts';
import { Button, Dialog, Field, Select, Textarea } from '@slipway/ui';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { number } from '../../browser/format.ts';
import { ROLE_HINTS, roleOptions, rolesToGive } from '../admin/roles.ts';
import { FormFailure } from '../form/form-failure.tsx';
import { CopyLine } from '../form/secret-box.tsx';
import { useForm } from '../form/use-form.ts';
import { useSession } from '../session/me.ts';
import { addressesOf } from './addresses.ts';

/** Invites many at once, then says of each what came of it. */
export function InviteDialog({ onClose }: { onClose: () => void }) {
  const { org } = useSession();
  const [outcomes, setOutcomes] = useState<InvitationOutcomes['data'] | null>(null);
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={outcomes === null ? `Invite people to ${org.name}` : 'What came of it'}
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

function InviteForm({ onClose, onSent }: { onClose: () => void; onSent: (outcomes: InvitationOutcomes['data']) => void }) {
  const { org } = useSession();
  const queries = useQueryClient();
  const form = useForm({
    initial: { emails: '', role: 'member' as Role, message: '' },
    schema: CreateInvitations,
    requestOf: ({ emails, role, message }) => ({ emails: addressesOf(emails), role, ...(message.trim() === '' ? {} : { message }) }),
    send: (body) => api.createInvitations({ org: org.id, body }),
    onDone: ({ data }) => {
      void queries.invalidateQueries({ queryKey: ['invitations', org.id] });
      onSent(data);
    },
  });
  const count = addressesOf(form.values.emails).length;
  const wrong =
    count > MAX_INVITED_AT_ONCE
      ? `These are ${number(count)} addresses; at most ${MAX_INVITED_AT_ONCE} can be invited at once.`
      : form.error('emails') === null
        ? null
        : 'Give at least one e-mail address.';
  return (
    <form {...form.props} className="flex flex-col gap-4 p-4">
      <Field
        label="E-mail addresses"
        error={wrong}
        hint={count === 0 ? 'Paste as many as you like: separated by commas, spaces or lines.' : `${number(count)} ${count === 1 ? 'address' : 'addresses'}`}
      >
        {(control) => (
          <Textarea
            {...control}
            rows={4}
            data-autofocus
            autoComplete="off"
            spellCheck={false}
            placeholder="ada@example.com, grace@example.com"
            value={form.values.emails}
            onChange={(event) => form.set('emails', event.target.value)}
          />
        )}
      </Field>
      <Field label="Role" hint={ROLE_HINTS[form.values.role]}>
        {(control) => (
          <Select {...control} options={roleOptions(rolesToGive(org.role))} value={form.values.role} onChange={(role) => form.set('role', role as Role)} />
        )}
      </Field>
      <Field label="A few words (optional)" error={form.error('message')}>
        {(control) => (
          <Textarea {...control} rows={2} maxLength={500} value={form.values.message} onChange={(event) => form.set('message', event.target.value)} />
        )}
      </Field>
      <FormFailure failure={form.failure} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" tone="primary" busy={form.busy} disabled={count > MAX_INVITED_AT_ONCE}>
          Invite
        </Button>
      </div>
    </form>
  );
}

const WORDS: Record<InvitationOutcome['outcome'], string> = {
  invited: 'Invited',
  'already-member': 'Is a member already',
  'already-invited': 'Was invited already; resend it under Invitations',
  invalid: 'Is no e-mail address',
};

function Outcomes({ outcomes, onClose, again }: { outcomes: InvitationOutcomes['data']; onClose: () => void; again: () => void }) {
  const links = outcomes.filter((outcome) => outcome.link !== null);
  return (
    <div className="flex flex-col gap-4 p-4">
      {links.length === 0 ? null : (
        <p className="text-sm">This installation sends no mail. Give each person their link yourself; it is shown only now and holds for seven days.</p>
      )}
      <ul className="flex flex-col gap-3">
        {outcomes.map((outcome) => (
          <li key={outcome.email} className="flex flex-col gap-1 text-sm">
            <span className="flex flex-wrap justify-between gap-x-3">
              <span className="min-w-0 font-medium break-all">{outcome.email}</span>
              <span className={outcome.outcome === 'invited' ? 'text-ok' : 'text-warn'}>
                {outcome.outcome === 'invited' && outcome.sent ? 'Invited by mail' : WORDS[outcome.outcome]}
              </span>
            </span>
            {outcome.link === null ? null : <CopyLine label={`Link for ${outcome.email}`} text={outcome.link} />}
          </li>
        ))}
      </ul>
      {links.length > 1 ? <CopyLine label="All links, one a line" text={links.map((outcome) => `${outcome.email} ${outcome.link}`).join('\n')} /> : null}
      <div className="flex justify-end gap-2">
        <Button onClick={again}>Invite more</Button>
        <Button tone="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </div>
  );
}
