'use client';
import { Button, Card } from '@slipway/ui';
import { useSearchParams } from 'next/navigation';
import { failureOfCode } from '../../api/failure.ts';
import { Logo } from '../frame/logo.tsx';

/** Only a path of this site: anything else would make the sign-in an open redirect. */
function safePath(path: string | null): string {
  return path !== null && /^\/(?![/\\])/.test(path) ? path : '/';
}

export function SignIn() {
  const query = useSearchParams();
  const error = query.get('error');
  const failure = error === null ? null : failureOfCode(error.includes('.') ? error : 'auth.sign-in-failed');
  return (
    <main className="grid h-dvh place-items-center overflow-auto p-4">
      <Card className="flex w-full max-w-sm flex-col gap-5 p-8 shadow-float">
        <div className="flex items-center gap-2.5">
          <Logo className="size-8" />
          <h1 className="text-xl font-semibold">Slipway</h1>
        </div>
        <p className="text-ink-muted">
          Give a coding agent a task and a repository. It works in a sandbox of its own; you watch each step and take the diff home.
        </p>
        {failure ? (
          <div role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-sm">
            <p className="font-medium text-bad">{failure.title}</p>
            <p className="text-ink">{failure.nextStep}</p>
          </div>
        ) : null}
        <Button asChild tone="primary" size="large">
          <a href={`/oauth/login?redirect=${encodeURIComponent(safePath(query.get('redirect')))}`}>Sign in</a>
        </Button>
      </Card>
    </main>
  );
}
