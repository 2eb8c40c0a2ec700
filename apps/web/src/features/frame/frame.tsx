'use client';
import type { Me } from '@slipway/contracts/organizations';
import { Button, EmptyState } from '@slipway/ui';
import Link from 'next/link';
import { useParams } from 'next/navigation';
import { useTranslations } from 'next-intl';
import { type ReactNode, useEffect, useState } from 'react';
import { useStored } from '../../browser/stored.ts';
import { SignInAgain } from '../session/sign-in-again.tsx';
import { SignedIn } from '../session/signed-in.tsx';
import { LAST_ORG } from './last-org.ts';
import { Shell } from './shell.tsx';

/** The organization of the address. */
export function Frame({ children }: { children: ReactNode }) {
  const { org } = useParams<{ org: string }>();
  return (
    <SignedIn>
      {(me) => (
        <OrgOfAddress me={me} name={org}>
          {children}
        </OrgOfAddress>
      )}
    </SignedIn>
  );
}

function OrgOfAddress({ me, name, children }: { me: Me; name: string; children: ReactNode }) {
  const t = useTranslations();
  /**
   * Whose address this was a moment ago: one that is just getting another stays on the screen until the new address is
   * there.
   */
  const [shown, setShown] = useState({ name: '', id: '' });
  const org =
    me.orgs.find((candidate) => candidate.slug === name || candidate.id === name) ??
    (shown.name === name ? me.orgs.find((candidate) => candidate.id === shown.id) : undefined);
  const [, remember] = useStored(LAST_ORG, '');
  const id = org?.id;
  useEffect(() => {
    if (id === undefined) return;
    remember(id);
    setShown({ name, id });
  }, [id, name, remember]);
  if (org !== undefined && org.needs !== null) return <SignInAgain me={me} org={org} needs={org.needs} />;
  if (org !== undefined)
    return (
      <Shell me={me} org={org}>
        {children}
      </Shell>
    );
  return (
    <main className="grid h-dvh place-items-center">
      <EmptyState
        page
        title={t('frame.organizationNotFound')}
        action={
          <Button asChild>
            <Link href="/">{t('frame.goToYourOrganization')}</Link>
          </Button>
        }
      >
        {t('frame.checkTheAddressYouMay')}
      </EmptyState>
    </main>
  );
}
