'use client';
import type { Me } from '@slipway/contracts/organizations';
import { Button } from '@slipway/ui';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { ExternalLink } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { api } from '../../api/client.ts';
import { ErrorNotice } from '../form/form-failure.tsx';
import { AloneCard } from '../frame/alone-card.tsx';
import { SignOutButton } from './sign-out-button.tsx';

/** What is to be done before anything else answers, one at a time: prove the e-mail address, then accept the terms. */
export function Gates({ me }: { me: Me }) {
  return me.gates[0] === 'email-unverified' ? <EmailGate me={me} /> : <TermsGate me={me} />;
}

function EmailGate({ me }: { me: Me }) {
  const t = useTranslations();
  const queries = useQueryClient();
  const begin = useMutation({
    mutationFn: () => api.verifyEmail(),
    onSuccess: ({ url }) => window.location.assign(url),
  });
  return (
    <AloneCard title={t('session.confirmYourEmailAddress')}>
      <p>
        {t.rich('session.youAreSignedInAs', {
          email: me.email ?? me.name,
          b: (chunks) => <strong className="font-medium break-all">{chunks}</strong>,
        })}
      </p>
      <p className="text-ink-muted">{t('session.followTheLinkInThe')}</p>
      <ErrorNotice error={begin.error} />
      <Button tone="primary" size="large" busy={begin.isPending || begin.isSuccess} onClick={() => begin.mutate()}>
        {t('session.confirmAddress')}
      </Button>
      <Button size="large" onClick={() => void queries.invalidateQueries({ queryKey: ['me'] })}>
        {t('session.iHaveConfirmedIt')}
      </Button>
      <SignOutButton />
    </AloneCard>
  );
}

function TermsGate({ me }: { me: Me }) {
  const t = useTranslations();
  const queries = useQueryClient();
  const accept = useMutation({
    mutationFn: () => api.acceptTerms({ body: me.terms === null ? {} : { version: me.terms.version } }),
    onSuccess: (next) => queries.setQueryData(['me'], next),
    // Another version by now: it is shown instead of the one that was refused.
    onError: () => queries.invalidateQueries({ queryKey: ['me'] }),
  });
  return (
    <AloneCard
      title={me.terms?.acceptedVersion ? t('session.theTermsOfServiceHave') : t('session.acceptTheTermsOfService')}
    >
      <p>{t('session.readAndAcceptThisInstallations')}</p>
      {me.terms === null ? null : (
        <a
          href={me.terms.url}
          target="_blank"
          rel="noreferrer"
          className="inline-flex min-h-6 items-center gap-1.5 text-accent underline underline-offset-2 touch:min-h-11"
        >
          {t('session.termsOfServiceVersion', { version: me.terms.version })}{' '}
          <ExternalLink aria-hidden className="size-4" />
          <span className="sr-only">{t('session.opensInANewTab')}</span>
        </a>
      )}
      <ErrorNotice error={accept.error} />
      <Button tone="primary" size="large" busy={accept.isPending} onClick={() => accept.mutate()}>
        {t('session.accept')}
      </Button>
      <SignOutButton />
    </AloneCard>
  );
}
