'use client';
import { INVITATION_STATES, type Invitation, type SentInvitation } from '@slipway/contracts/organizations';
import { Badge, Button, type Column, ConfirmDialog, Dialog, EmptyState, IconButton, Select, Table } from '@slipway/ui';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { MailX, RotateCw } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { toast } from 'sonner';
import { z } from 'zod';
import { api } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { useAddressValue } from '../../browser/address.ts';
import { Ago, Ahead } from '../../browser/ago.tsx';
import { type MessageKey, type Option, translated } from '../../messages/translate.ts';
import { ROLE_LABELS } from '../admin/roles.ts';
import { ErrorNotice } from '../form/form-failure.tsx';
import { CopyLine } from '../form/secret-box.tsx';
import { ListPanel } from '../list/list-panel.tsx';
import { usePages } from '../list/use-pages.ts';
import { useSession } from '../session/me.ts';

const ALL = 'all';
const STATES: Record<Invitation['state'], { label: MessageKey; tone: 'accent' | 'ok' | 'neutral' | 'warn' }> = {
  open: { label: 'adminMembers.waiting', tone: 'accent' },
  accepted: { label: 'adminMembers.accepted', tone: 'ok' },
  revoked: { label: 'adminMembers.revoked', tone: 'neutral' },
  expired: { label: 'adminMembers.expired', tone: 'warn' },
};
const FILTERS: readonly Option[] = [
  { value: ALL, label: 'adminMembers.allStates' },
  ...INVITATION_STATES.map((state) => ({ value: state, label: STATES[state].label })),
];

/** Who was asked to join, newest first. */
export function Invitations({ invite }: { invite: () => void }) {
  const t = useTranslations();
  const { org } = useSession();
  const [stateName, setState] = useAddressValue('state');
  const state = z.enum(INVITATION_STATES).safeParse(stateName).data;
  const list = usePages({
    key: ['invitations', org.id, state ?? ALL],
    read: (cursor, signal) =>
      api.listInvitations({
        org: org.id,
        query: { limit: 100, ...(state === undefined ? {} : { state }), ...cursor },
        signal,
      }),
  });
  const [revoking, setRevoking] = useState<Invitation | null>(null);
  const [sent, setSent] = useState<SentInvitation | null>(null);
  return (
    <div className="flex flex-col gap-3">
      <Select
        aria-label={t('common.state')}
        className="w-40"
        options={translated(t, FILTERS)}
        value={state ?? ALL}
        onChange={(value) => setState(value === ALL ? null : value, 'push')}
      />
      <ListPanel
        list={list}
        noun={t('adminMembers.invitations')}
        empty={
          <EmptyState
            title={t('adminMembers.noInvitationsYet')}
            action={
              <Button tone="primary" onClick={invite}>
                {t('adminMembers.invitePeople')}
              </Button>
            }
          >
            {t('adminMembers.eachUserGetsALink')}
          </EmptyState>
        }
        filtered={state === undefined ? null : () => setState(null)}
      >
        {(rows) => <InvitationTable rows={rows} revoke={setRevoking} onSent={setSent} />}
      </ListPanel>
      {revoking === null ? null : <RevokeDialog invitation={revoking} onClose={() => setRevoking(null)} />}
      {sent?.link == null ? null : (
        <Dialog
          open
          onOpenChange={(open) => !open && setSent(null)}
          title={t('adminMembers.newLinkFor', { email: sent.invitation.email })}
        >
          <div className="flex flex-col gap-4 p-4">
            <p className="text-sm">{t('adminMembers.thisInstallationSendsNoEmail')}</p>
            <CopyLine label={t('adminMembers.linkFor', { email: sent.invitation.email })} text={sent.link} />
            <Button tone="primary" className="self-end" onClick={() => setSent(null)}>
              {t('common.done')}
            </Button>
          </div>
        </Dialog>
      )}
    </div>
  );
}

function InvitationTable(props: {
  rows: readonly Invitation[];
  revoke: (invitation: Invitation) => void;
  onSent: (sent: SentInvitation) => void;
}) {
  const t = useTranslations();
  const columns: Column<Invitation>[] = [
    {
      label: t('common.address'),
      phone: 'title',
      cell: (invitation) => <span className="font-medium break-all">{invitation.email}</span>,
    },
    { label: t('common.role'), cell: (invitation) => t(ROLE_LABELS[invitation.role]) },
    { label: t('common.state'), cell: (invitation) => <State invitation={invitation} /> },
    {
      label: t('adminMembers.invitedBy'),
      cell: (invitation) => <span className="text-ink-muted md:whitespace-nowrap">{invitation.invitedBy.label}</span>,
    },
    {
      label: t('adminMembers.invited'),
      phone: 'hidden',
      cell: (invitation) => <Ago at={invitation.createdAt} className="whitespace-nowrap text-ink-muted" />,
    },
    {
      label: t('common.expires'),
      cell: (invitation) => (
        <span className="whitespace-nowrap text-ink-muted">
          {invitation.state === 'open' ? (
            <Ahead at={invitation.expiresAt} />
          ) : invitation.state === 'expired' ? (
            <Ago at={invitation.expiresAt} />
          ) : (
            '–'
          )}
        </span>
      ),
    },
    {
      label: t('common.actions'),
      unnamed: true,
      align: 'end',
      phone: 'actions',
      cell: (invitation) => <Actions invitation={invitation} revoke={props.revoke} onSent={props.onSent} />,
    },
  ];
  return (
    <Table
      label={t('adminMembers.invitations2')}
      columns={columns}
      rows={props.rows}
      rowKey={(invitation) => invitation.id}
    />
  );
}

function State({ invitation: { state, mail } }: { invitation: Invitation }) {
  const t = useTranslations();
  return (
    <span className="flex flex-wrap items-center gap-1.5 max-md:justify-end">
      <Badge tone={STATES[state].tone}>{t(STATES[state].label)}</Badge>
      {state === 'open' && mail.state === 'waiting' ? (
        <span className="text-xs text-ink-muted">{t('adminMembers.emailSent')}</span>
      ) : null}
      {state === 'open' && mail.state === 'failed' ? (
        <span className="text-xs text-bad" title={mail.error ?? undefined}>
          {t('adminMembers.emailRejected')}
        </span>
      ) : null}
      {state === 'open' && mail.state === 'link' ? (
        <span className="text-xs text-ink-muted">{t('adminMembers.byLink')}</span>
      ) : null}
    </span>
  );
}

function Actions({
  invitation,
  revoke,
  onSent,
}: {
  invitation: Invitation;
  revoke: (invitation: Invitation) => void;
  onSent: (sent: SentInvitation) => void;
}) {
  const t = useTranslations();
  const { org } = useSession();
  const queries = useQueryClient();
  const resend = useMutation({
    mutationFn: () => api.resendInvitation({ org: org.id, invitation: invitation.id }),
    onSuccess: (sent) => {
      void queries.invalidateQueries({ queryKey: ['invitations', org.id] });
      if (sent.link === null) toast.success(t('adminMembers.aNewEmailIsOn', { email: invitation.email }));
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
      <IconButton
        label={t('adminMembers.sendANewLink', { email: invitation.email })}
        busy={resend.isPending}
        onClick={() => resend.mutate()}
      >
        <RotateCw aria-hidden />
      </IconButton>
      {invitation.state === 'open' ? (
        <IconButton
          label={t('adminMembers.revokeInvitationFor', { email: invitation.email })}
          onClick={() => revoke(invitation)}
        >
          <MailX aria-hidden />
        </IconButton>
      ) : null}
    </span>
  );
}

function RevokeDialog({ invitation, onClose }: { invitation: Invitation; onClose: () => void }) {
  const t = useTranslations();
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
      title={t('adminMembers.revokeInvitation')}
      confirmLabel={t('adminMembers.revoke')}
      busy={revoke.isPending}
      onConfirm={() => revoke.mutate()}
    >
      <p>
        {t.rich('adminMembers.theLinkForStopsWorking', {
          email: invitation.email,
          b: (chunks) => <strong className="font-medium break-all">{chunks}</strong>,
        })}
      </p>
      <ErrorNotice error={revoke.error} />
    </ConfirmDialog>
  );
}
