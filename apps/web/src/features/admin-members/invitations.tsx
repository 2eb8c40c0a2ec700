'use client';
import { INVITATION_STATES, type Invitation, type SentInvitation } from '@slipway/contracts';
import { Badge, Button, type Column, ConfirmDialog, Dialog, EmptyState, IconButton, Select, Table } from '@slipway/ui';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { MailX, RotateCw } from 'lucide-react';
import { useState } from 'react';
import { toast } from 'sonner';
import { z } from 'zod';
import { api } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { useAddressValue } from '../../browser/address.ts';
import { Ago, Ahead } from '../../browser/ago.tsx';
import { ROLE_LABELS } from '../admin/roles.ts';
import { ErrorNotice } from '../form/form-failure.tsx';
import { CopyLine } from '../form/secret-box.tsx';
import { ListPanel } from '../list/list-panel.tsx';
import { usePages } from '../list/use-pages.ts';
import { useSession } from '../session/me.ts';

const ALL = 'all';
const STATES: Record<Invitation['state'], { label: string; tone: 'accent' | 'ok' | 'neutral' | 'warn' }> = {
  open: { label: 'Waiting', tone: 'accent' },
  accepted: { label: 'Accepted', tone: 'ok' },
  revoked: { label: 'Taken back', tone: 'neutral' },
  expired: { label: 'Expired', tone: 'warn' },
};
const FILTERS = [{ value: ALL, label: 'All states' }, ...INVITATION_STATES.map((state) => ({ value: state, label: STATES[state].label }))];

/** Who was asked to join, newest first. */
export function Invitations({ invite }: { invite: () => void }) {
  const { org } = useSession();
  const [stateName, setState] = useAddressValue('state');
  const state = z.enum(INVITATION_STATES).safeParse(stateName).data;
  const list = usePages({
    key: ['invitations', org.id, state ?? ALL],
    read: (cursor, signal) => api.listInvitations({ org: org.id, query: { limit: 100, ...(state === undefined ? {} : { state }), ...cursor }, signal }),
  });
  const [revoking, setRevoking] = useState<Invitation | null>(null);
  const [sent, setSent] = useState<SentInvitation | null>(null);
  return (
    <div className="flex flex-col gap-3">
      <Select aria-label="State" className="w-40" options={FILTERS} value={state ?? ALL} onChange={(value) => setState(value === ALL ? null : value, 'push')} />
      <ListPanel
        list={list}
        noun="invitations"
        empty={
          <EmptyState
            title="Nobody was invited yet"
            action={
              <Button tone="primary" onClick={invite}>
                Invite people
              </Button>
            }
          >
            Each person gets a link that holds for seven days; here you see who has used it.
          </EmptyState>
        }
        filtered={state === undefined ? null : () => setState(null)}
      >
        {(rows) => <InvitationTable rows={rows} revoke={setRevoking} onSent={setSent} />}
      </ListPanel>
      {revoking === null ? null : <RevokeDialog invitation={revoking} onClose={() => setRevoking(null)} />}
      {sent?.link == null ? null : (
        <Dialog open onOpenChange={(open) => !open && setSent(null)} title={`A new link for ${sent.invitation.email}`}>
          <div className="flex flex-col gap-4 p-4">
            <p className="text-sm">
              This installation sends no mail: hand the link on yourself. It is shown only now, holds for seven days, and the one before has ended.
            </p>
            <CopyLine label={`Link for ${sent.invitation.email}`} text={sent.link} />
            <Button tone="primary" className="self-end" onClick={() => setSent(null)}>
              Done
            </Button>
          </div>
        </Dialog>
      )}
    </div>
  );
}

function InvitationTable(props: { rows: readonly Invitation[]; revoke: (invitation: Invitation) => void; onSent: (sent: SentInvitation) => void }) {
  const columns: Column<Invitation>[] = [
    { label: 'Address', phone: 'title', cell: (invitation) => <span className="font-medium break-all">{invitation.email}</span> },
    { label: 'Role', cell: (invitation) => ROLE_LABELS[invitation.role] },
    { label: 'State', cell: (invitation) => <State invitation={invitation} /> },
    { label: 'Invited by', cell: (invitation) => <span className="text-ink-muted md:whitespace-nowrap">{invitation.invitedBy.label}</span> },
    { label: 'Invited', phone: 'hidden', cell: (invitation) => <Ago at={invitation.createdAt} className="whitespace-nowrap text-ink-muted" /> },
    {
      label: 'Expires',
      cell: (invitation) => (
        <span className="whitespace-nowrap text-ink-muted">
          {invitation.state === 'open' ? <Ahead at={invitation.expiresAt} /> : invitation.state === 'expired' ? <Ago at={invitation.expiresAt} /> : '–'}
        </span>
      ),
    },
    {
      label: 'Actions',
      unnamed: true,
      align: 'end',
      phone: 'actions',
      cell: (invitation) => <Actions invitation={invitation} revoke={props.revoke} onSent={props.onSent} />,
    },
  ];
  return <Table label="Invitations" columns={columns} rows={props.rows} rowKey={(invitation) => invitation.id} />;
}

function State({ invitation: { state, mail } }: { invitation: Invitation }) {
  return (
    <span className="flex flex-wrap items-center gap-1.5 max-md:justify-end">
      <Badge tone={STATES[state].tone}>{STATES[state].label}</Badge>
      {state === 'open' && mail.state === 'waiting' ? <span className="text-xs text-ink-muted">mail is on its way</span> : null}
      {state === 'open' && mail.state === 'failed' ? (
        <span className="text-xs text-bad" title={mail.error ?? undefined}>
          the mail was refused
        </span>
      ) : null}
      {state === 'open' && mail.state === 'link' ? <span className="text-xs text-ink-muted">by link</span> : null}
    </span>
  );
}

function Actions({ invitation, revoke, onSent }: { invitation: Invitation; revoke: (invitation: Invitation) => void; onSent: (sent: SentInvitation) => void }) {
  const { org } = useSession();
  const queries = useQueryClient();
  const resend = useMutation({
    mutationFn: () => api.resendInvitation({ org: org.id, invitation: invitation.id }),
    onSuccess: (sent) => {
      void queries.invalidateQueries({ queryKey: ['invitations', org.id] });
      if (sent.link === null) toast.success(`A new mail goes to ${invitation.email}.`);
      else onSent(sent);
    },
    onError: (error) => {
      const failure = failureOf(error);
      toast.error([failure.title, failure.detail, failure.nextStep].filter(Boolean).join('. '));
      void queries.invalidateQueries({ queryKey: ['invitations', org.id] });
    },
  });
  if (invitation.state !== 'open' && invitation.state !== 'expired') return null;
  return (
    <span className="flex justify-end">
      <IconButton label={`Send ${invitation.email} a new link`} busy={resend.isPending} onClick={() => resend.mutate()}>
        <RotateCw aria-hidden />
      </IconButton>
      {invitation.state === 'open' ? (
        <IconButton label={`Take the invitation of ${invitation.email} back`} onClick={() => revoke(invitation)}>
          <MailX aria-hidden />
        </IconButton>
      ) : null}
    </span>
  );
}

function RevokeDialog({ invitation, onClose }: { invitation: Invitation; onClose: () => void }) {
  const { org } = useSession();
  const queries = useQueryClient();
  const revoke = useMutation({
    mutationFn: () => api.revokeInvitation({ org: org.id, invitation: invitation.id }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['invitations', org.id] });
      onClose();
    },
  });
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => !open && onClose()}
      title="Take the invitation back?"
      confirmLabel="Take it back"
      busy={revoke.isPending}
      onConfirm={() => revoke.mutate()}
    >
      <p>
        The link of <strong className="font-medium break-all">{invitation.email}</strong> ends at once. You can invite them again with a new one.
      </p>
      <ErrorNotice error={revoke.error} />
    </ConfirmDialog>
  );
}
