'use client';
import type { Me, Org } from '@slipway/contracts';
import { Button } from '@slipway/ui';
import Link from 'next/link';
import { AloneCard } from '../frame/alone-card.tsx';
import { SignOutButton } from './sign-out-button.tsx';

/** In the place of any page of an organization whose rules do not take this sign-in. Its address stays, and is where the sign-in leads back to. */
export function SignInAgain({ me, org, needs }: { me: Me; org: Org; needs: NonNullable<Org['needs']> }) {
  const here = window.location.pathname + window.location.search;
  const query = new URLSearchParams({ again: needs, redirect: here, ...(me.email === null ? {} : { login_hint: me.email }) });
  const other = me.orgs.find((each) => each.needs === null);
  return (
    <AloneCard title={needs === 'second-factor' ? 'A second factor is needed' : 'Sign in again'}>
      {needs === 'second-factor' ? (
        <>
          <p>
            {org.name} lets in only who has signed in with a second factor, such as a code of an authenticator. This sign-in was without one, or is too old by
            now.
          </p>
          <p className="text-ink-muted">If you have none yet, the sign-in service lets you set one up, or an admin there does.</p>
        </>
      ) : (
        <p>{org.name} asks its members to sign in from time to time. This sign-in is too old, or was not used for too long.</p>
      )}
      <Button asChild tone="primary" size="large">
        <a href={`/oauth/login?${query}`}>{needs === 'second-factor' ? 'Sign in with a second factor' : 'Sign in again'}</a>
      </Button>
      {other === undefined ? null : (
        <Button asChild size="large">
          <Link href={`/${other.slug}`}>Go to {other.name}</Link>
        </Button>
      )}
      <SignOutButton />
    </AloneCard>
  );
}
