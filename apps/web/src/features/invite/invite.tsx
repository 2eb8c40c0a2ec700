'use client';
import type { InvitationPreview } from '@slipway/contracts/organizations';
import { Button, Notice } from '@slipway/ui';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import Link from 'next/link';
import { useParams, useRouter } from 'next/navigation';
import { useTranslations } from 'next-intl';
import { type ReactNode, useEffect } from 'react';
import { api } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { Ahead } from '../../browser/ago.tsx';
import { exactTime } from '../../browser/format.ts';
import { ROLE_HINTS, ROLE_LABELS } from '../admin/roles.ts';
import { ErrorNotice } from '../form/form-failure.tsx';
import { AloneCard } from '../frame/alone-card.tsx';
import { Failed } from '../frame/failed.tsx';
import { FrameSkeleton } from '../frame/frame-skeleton.tsx';
import { useMe } from '../session/me.ts';
import { useMyOrgs } from '../session/my-orgs.ts';
import { SignedIn } from '../session/signed-in.tsx';
import { SwitchAccountButton } from '../session/switch-account-button.tsx';

/** Where a link of an invitation leads: what it invites to, with which account, and the way to accept. */
export function Invite() {
  const t = useTranslations();
  const { token } = useParams<{ token: string }>();
  const preview = useQuery<InvitationPreview>({
    queryKey: ['invitation', token],
    queryFn: ({ signal }) => api.readInvitation({ token, signal }),
    retry: 1,
  });
  if (preview.data !== undefined) return <Answer token={token} preview={preview.data} />;
  if (preview.error === null) return <FrameSkeleton />;
  const { code } = failureOf(preview.error);
  // Somebody is signed in who has something to do first: that takes this page's place, and then it is read.
  if (code.startsWith('account.')) return <SignedIn>{() => <ReadAgain read={preview.refetch} />}</SignedIn>;
  if (code === 'resource.not-found')
    return (
      <AloneCard title={t('invite.invitationNotFound')}>
        <p>{t('invite.theLinkMayBeIncomplete')}</p>
        <HomeLink />
      </AloneCard>
    );
  return (
    <main className="p-6">
      <Failed error={preview.error} retry={() => void preview.refetch()} className="max-w-xl" />
    </main>
  );
}

function ReadAgain({ read }: { read: () => unknown }) {
  useEffect(() => void read(), [read]);
  return <FrameSkeleton />;
}

function Answer({ token, preview }: { token: string; preview: InvitationPreview }) {
  const t = useTranslations();
  const { orgName, invitedBy, role, state, expiresAt } = preview;
  if (state !== 'open') return <Over preview={preview} />;
  return (
    <AloneCard title={t('invite.join', { orgName })}>
      <p>
        {t.rich('invite.invitesYouTo', {
          invitedBy,
          orgName,
          b: (chunks) => <strong className="font-medium">{chunks}</strong>,
        })}
      </p>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1.5 text-sm">
        <dt className="text-ink-muted">{t('common.role')}</dt>
        <dd>
          {t(ROLE_LABELS[role])}
          <span className="block text-ink-muted">{t(ROLE_HINTS[role])}</span>
        </dd>
        <dt className="text-ink-muted">{t('invite.sentTo')}</dt>
        <dd className="break-all">{preview.maskedEmail}</dd>
        <dt className="text-ink-muted">{t('common.expires')}</dt>
        <dd>
          <Ahead at={expiresAt} />
        </dd>
      </dl>
      {preview.account === 'anonymous' ? (
        <SignInFirst preview={preview} />
      ) : (
        <SignedIn>{() => <WithAccount token={token} preview={preview} />}</SignedIn>
      )}
    </AloneCard>
  );
}

/** Signing in comes back here; who has no account yet makes one there. */
function SignInFirst({ preview }: { preview: InvitationPreview }) {
  const t = useTranslations();
  return (
    <>
      <p className="text-sm text-ink-muted">{t('invite.signInOrCreateAn', { maskedEmail: preview.maskedEmail })}</p>
      <Button asChild tone="primary" size="large">
        <a href={`/oauth/login?redirect=${encodeURIComponent(window.location.pathname)}`}>
          {t('invite.signInToAccept')}
        </a>
      </Button>
    </>
  );
}

function WithAccount({ token, preview }: { token: string; preview: InvitationPreview }) {
  const t = useTranslations();
  const me = useMe().data;
  const router = useRouter();
  const queries = useQueryClient();
  const { put } = useMyOrgs();
  const accept = useMutation({
    mutationFn: () => api.acceptInvitation({ token }),
    onSuccess: async (org) => {
      await put(org);
      router.replace(`/${org.slug}`);
    },
    // It may be used or taken back by now: the page then says so.
    onError: () => queries.invalidateQueries({ queryKey: ['invitation', token] }),
  });
  const account = me?.email ?? me?.name ?? t('invite.anotherAccount');
  const b = (chunks: ReactNode) => <strong className="font-medium break-all">{chunks}</strong>;
  if (preview.account === 'other')
    return (
      <>
        <Notice tone="warn" title={t('invite.wrongAccount')}>
          <p>
            {t.rich('invite.youAreSignedInAs', {
              account,
              b,
              maskedEmail: preview.maskedEmail,
              invitedBy: preview.invitedBy,
            })}
          </p>
        </Notice>
        <SwitchAccountButton tone="primary" />
      </>
    );
  if (preview.account === 'unverified')
    return (
      <>
        <Notice tone="warn" title={t('invite.yourEmailAddressIsNot')}>
          <p>{t.rich('invite.youAreSignedInAsFollow', { account, b })}</p>
        </Notice>
        <SwitchAccountButton />
      </>
    );
  return (
    <>
      <p className="text-sm text-ink-muted">{account}.</p>
      <ErrorNotice error={accept.error} />
      <Button tone="primary" size="large" busy={accept.isPending || accept.isSuccess} onClick={() => accept.mutate()}>
        {t('invite.join', { orgName: preview.orgName })}
      </Button>
      <SwitchAccountButton />
    </>
  );
}

/** It cannot be accepted any more: why, and whom to ask. */
function Over({ preview: { state, orgName, invitedBy, expiresAt } }: { preview: InvitationPreview }) {
  const t = useTranslations();
  const words = {
    accepted: {
      title: t('invite.invitationAlreadyUsed'),
      text: t('invite.someoneHasAlreadyJoinedWith', { orgName, invitedBy }),
    },
    revoked: {
      title: t('invite.invitationRevoked'),
      text: t('invite.thisInvitationIsNoLonger', { invitedBy, orgName }),
    },
    expired: {
      title: t('invite.invitationExpired'),
      text: t('invite.itWasValidUntilAsk', { expiresAt: exactTime(expiresAt), invitedBy }),
    },
    open: { title: '', text: '' },
  }[state];
  return (
    <AloneCard title={words.title}>
      <p>{words.text}</p>
      <HomeLink />
    </AloneCard>
  );
}

function HomeLink() {
  const t = useTranslations();
  return (
    <Button asChild size="large">
      <Link href="/">{t('invite.goToSlipway')}</Link>
    </Button>
  );
}
