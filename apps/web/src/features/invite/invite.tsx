'use client';
import type { InvitationPreview } from '@slipway/contracts';
import { Button, Notice } from '@slipway/ui';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import Link from 'next/link';
import { useParams, useRouter } from 'next/navigation';
import { useEffect } from 'react';
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
  const { token } = useParams<{ token: string }>();
  const preview = useQuery<InvitationPreview>({ queryKey: ['invitation', token], queryFn: ({ signal }) => api.readInvitation({ token, signal }), retry: 1 });
  if (preview.data !== undefined) return <Answer token={token} preview={preview.data} />;
  if (preview.error === null) return <FrameSkeleton />;
  const { code } = failureOf(preview.error);
  // Somebody is signed in who has something to do first: that takes this page's place, and then it is read.
  if (code.startsWith('account.')) return <SignedIn>{() => <ReadAgain read={preview.refetch} />}</SignedIn>;
  if (code === 'resource.not-found')
    return (
      <AloneCard title="There is no such invitation">
        <p>The link may be incomplete, or a newer one was sent to you since. Look for the last message, or ask whoever invited you to send it again.</p>
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
  const { orgName, invitedBy, role, state, expiresAt } = preview;
  if (state !== 'open') return <Over preview={preview} />;
  return (
    <AloneCard title={`Join ${orgName}`}>
      <p>
        {invitedBy} invites you to <strong className="font-medium">{orgName}</strong>.
      </p>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1.5 text-sm">
        <dt className="text-ink-muted">Role</dt>
        <dd>
          {ROLE_LABELS[role]}
          <span className="block text-ink-muted">{ROLE_HINTS[role]}</span>
        </dd>
        <dt className="text-ink-muted">For</dt>
        <dd className="break-all">{preview.maskedEmail}</dd>
        <dt className="text-ink-muted">Expires</dt>
        <dd>
          <Ahead at={expiresAt} />
        </dd>
      </dl>
      {preview.account === 'anonymous' ? <SignInFirst preview={preview} /> : <SignedIn>{() => <WithAccount token={token} preview={preview} />}</SignedIn>}
    </AloneCard>
  );
}

/** Signing in comes back here; who has no account yet makes one there. */
function SignInFirst({ preview }: { preview: InvitationPreview }) {
  return (
    <>
      <p className="text-sm text-ink-muted">Sign in, or create an account, with the address {preview.maskedEmail}.</p>
      <Button asChild tone="primary" size="large">
        <a href={`/oauth/login?redirect=${encodeURIComponent(window.location.pathname)}`}>Sign in to accept</a>
      </Button>
    </>
  );
}

function WithAccount({ token, preview }: { token: string; preview: InvitationPreview }) {
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
  const account = (
    <>
      You are signed in as <strong className="font-medium break-all">{me?.email ?? me?.name ?? 'another account'}</strong>
    </>
  );
  if (preview.account === 'other')
    return (
      <>
        <Notice tone="warn" title="This is another account.">
          <p>
            {account}, and the invitation is for {preview.maskedEmail}. Switch to that account, or ask {preview.invitedBy} for an invitation to yours.
          </p>
        </Notice>
        <SwitchAccountButton tone="primary" />
      </>
    );
  if (preview.account === 'unverified')
    return (
      <>
        <Notice tone="warn" title="Your e-mail address is not confirmed.">
          <p>{account}. Follow the link in the message that you got when you signed up, sign in again, and open this invitation once more.</p>
        </Notice>
        <SwitchAccountButton />
      </>
    );
  return (
    <>
      <p className="text-sm text-ink-muted">{account}.</p>
      <ErrorNotice error={accept.error} />
      <Button tone="primary" size="large" busy={accept.isPending || accept.isSuccess} onClick={() => accept.mutate()}>
        Join {preview.orgName}
      </Button>
      <SwitchAccountButton />
    </>
  );
}

/** It cannot be accepted any more: why, and whom to ask. */
function Over({ preview: { state, orgName, invitedBy, expiresAt } }: { preview: InvitationPreview }) {
  const words = {
    accepted: {
      title: 'The invitation was used',
      text: `Somebody has joined ${orgName} with it. If that was you, you are in; if not, ask ${invitedBy} for a new one.`,
    },
    revoked: { title: 'The invitation was taken back', text: `It does not hold any more. Ask ${invitedBy}, or another admin of ${orgName}, for a new one.` },
    expired: { title: 'The invitation has expired', text: `It held until ${exactTime(expiresAt)}. Ask ${invitedBy} for a new one.` },
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
  return (
    <Button asChild size="large">
      <Link href="/">Go to Slipway</Link>
    </Button>
  );
}
