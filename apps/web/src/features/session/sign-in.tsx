'use client';
import { Button, Card } from '@slipway/ui';
import { useSearchParams } from 'next/navigation';
import { useTranslations } from 'next-intl';
import type { MouseEvent } from 'react';
import { failureOfCode } from '../../api/failure.ts';
import { Logo } from '../frame/logo.tsx';
import { takeReturnPath } from './sign-out.ts';

/** Only a path of this site: anything else would make the sign-in an open redirect. */
function safePath(path: string | null): string {
  return path !== null && /^\/(?![/\\])/.test(path) ? path : '/';
}

function signInAt(path: string): string {
  return `/oauth/login?redirect=${encodeURIComponent(path)}`;
}

export function SignIn() {
  const t = useTranslations();
  const query = useSearchParams();
  const error = query.get('error');
  const failure = error === null ? null : failureOfCode(error.includes('.') ? error : 'auth.sign-in-failed');
  const path = safePath(query.get('redirect'));
  /** Who has just signed out to come back as somebody else goes on where they were. */
  const comeBack = (event: MouseEvent) => {
    const kept = path === '/' ? takeReturnPath() : null;
    if (kept === null) return;
    event.preventDefault();
    window.location.assign(signInAt(safePath(kept)));
  };
  return (
    <main className="grid h-dvh place-items-center overflow-auto p-4">
      <Card className="flex w-full max-w-sm flex-col gap-5 p-8 shadow-float">
        <div className="flex items-center gap-2.5">
          <Logo className="size-8" />
          <h1 className="text-xl font-semibold">{t('session.slipway')}</h1>
        </div>
        <p className="text-ink-muted">{t('session.giveACodingAgentA')}</p>
        {failure ? (
          <div role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-sm">
            <p className="font-medium text-bad">{failure.title}</p>
            <p className="text-ink">{failure.nextStep}</p>
          </div>
        ) : null}
        <Button asChild tone="primary" size="large">
          <a href={signInAt(path)} onClick={comeBack}>
            {t('session.signIn')}
          </a>
        </Button>
      </Card>
    </main>
  );
}
