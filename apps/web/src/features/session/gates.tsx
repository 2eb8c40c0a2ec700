'use client';
import type { Me } from '@slipway/contracts';
import { Button } from '@slipway/ui';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { ExternalLink } from 'lucide-react';
import { api } from '../../api/client.ts';
import { ErrorNotice } from '../form/form-failure.tsx';
import { AloneCard } from '../frame/alone-card.tsx';
import { SignOutButton } from './sign-out-button.tsx';

/** What is to be done before anything else answers, one at a time: prove the e-mail address, then accept the terms. */
export function Gates({ me }: { me: Me }) {
  return me.gates[0] === 'email-unverified' ? <EmailGate me={me} /> : <TermsGate me={me} />;
}

function EmailGate({ me }: { me: Me }) {
  const queries = useQueryClient();
  const begin = useMutation({ mutationFn: () => api.verifyEmail(), onSuccess: ({ url }) => window.location.assign(url) });
  return (
    <AloneCard title="Confirm your e-mail address">
      <p>
        You are signed in as <strong className="font-medium break-all">{me.email ?? me.name}</strong>, but nobody has confirmed yet that the address is yours.
        Until then Slipway shows you nothing.
      </p>
      <p className="text-ink-muted">Follow the link in the message that you were sent. If it did not come, have it sent again.</p>
      <ErrorNotice error={begin.error} />
      <Button tone="primary" size="large" busy={begin.isPending || begin.isSuccess} onClick={() => begin.mutate()}>
        Confirm the address
      </Button>
      <Button size="large" onClick={() => void queries.invalidateQueries({ queryKey: ['me'] })}>
        I have confirmed it
      </Button>
      <SignOutButton />
    </AloneCard>
  );
}

function TermsGate({ me }: { me: Me }) {
  const queries = useQueryClient();
  const accept = useMutation({
    mutationFn: () => api.acceptTerms({ body: me.terms === null ? {} : { version: me.terms.version } }),
    onSuccess: (next) => queries.setQueryData(['me'], next),
    // Another version by now: it is shown instead of the one that was refused.
    onError: () => queries.invalidateQueries({ queryKey: ['me'] }),
  });
  return (
    <AloneCard title={me.terms?.acceptedVersion ? 'The terms have changed' : 'Accept the terms'}>
      <p>To work with Slipway here, read the terms of this installation and accept them.</p>
      {me.terms === null ? null : (
        <a
          href={me.terms.url}
          target="_blank"
          rel="noreferrer"
          className="inline-flex min-h-6 items-center gap-1.5 text-accent underline underline-offset-2 touch:min-h-11"
        >
          Terms, version {me.terms.version} <ExternalLink aria-hidden className="size-4" />
          <span className="sr-only">(opens in a new tab)</span>
        </a>
      )}
      <ErrorNotice error={accept.error} />
      <Button tone="primary" size="large" busy={accept.isPending} onClick={() => accept.mutate()}>
        I have read and accept them
      </Button>
      <SignOutButton />
    </AloneCard>
  );
}
