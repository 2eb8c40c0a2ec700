'use client';
import type { Me, Org } from '@slipway/contracts/organizations';
import { Button } from '@slipway/ui';
import Link from 'next/link';
import { usePathname, useSearchParams } from 'next/navigation';
import { useTranslations } from 'next-intl';
import { AloneCard } from '../frame/alone-card.tsx';
import { SignOutButton } from './sign-out-button.tsx';

/**
 * In the place of any page of an organization whose rules do not take this sign-in. Its address stays, and is where the
 * sign-in leads back to.
 */
export function SignInAgain({ me, org, needs }: { me: Me; org: Org; needs: NonNullable<Org['needs']> }) {
  const t = useTranslations();
  const path = usePathname();
  const asked = useSearchParams().toString();
  const here = asked === '' ? path : `${path}?${asked}`;
  const query = new URLSearchParams({
    again: needs,
    redirect: here,
    ...(me.email === null ? {} : { login_hint: me.email }),
  });
  const other = me.orgs.find((each) => each.needs === null);
  return (
    <AloneCard title={needs === 'second-factor' ? t('session.secondFactorRequired') : t('session.signInAgain')}>
      {needs === 'second-factor' ? (
        <>
          <p>{t('session.requiresARecentSignIn', { name: org.name })}</p>
          <p className="text-ink-muted">{t('session.ifYouHaveNoneYet')}</p>
        </>
      ) : (
        <p>{t('session.requiresAMoreRecentSign', { name: org.name })}</p>
      )}
      <Button asChild tone="primary" size="large">
        <a href={`/oauth/login?${query}`}>
          {needs === 'second-factor' ? t('session.signInWithASecond') : t('session.signInAgain')}
        </a>
      </Button>
      {other === undefined ? null : (
        <Button asChild size="large">
          <Link href={`/${other.slug}`}>{t('session.goTo', { name: other.name })}</Link>
        </Button>
      )}
      <SignOutButton />
    </AloneCard>
  );
}
