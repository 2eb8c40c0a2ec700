'use client';
import type { Me } from '@slipway/contracts/organizations';
import { TooltipProvider } from '@slipway/ui';
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { type Locale, type Messages, NextIntlClientProvider } from 'next-intl';
import { ThemeProvider, useTheme } from 'next-themes';
import { type ReactNode, useState } from 'react';
import { Toaster } from 'sonner';
import { failureOf } from '../api/failure.ts';
import { OfflineWorker } from '../features/frame/offline-worker.tsx';
import { goToSignIn, rememberMe } from '../features/session/me.ts';

/** Notice for a user whose role, organizations or gates have changed since they were read. */
const ELSE_THAN_KNOWN: ReadonlySet<string> = new Set([
  'permission.denied',
  'resource.not-found',
  'org.being-deleted',
  'account.email-unverified',
  'account.terms-required',
  'org.sign-in-again',
  'org.second-factor-needed',
]);

/**
 * Reads are tried again only when the error table says that it may help. Whatever finds the session over leads to
 * sign-in and back; whatever finds it different has who is signed in read again, so that the page shows what they may
 * do now.
 * @param me who is signed in, as the server knew when it made the page.
 */
function createQueryClient(me: Me | null): QueryClient {
  const onError = (error: Error) => {
    const { code } = failureOf(error);
    if (code === 'auth.missing') goToSignIn();
    else if (ELSE_THAN_KNOWN.has(code)) void queries.invalidateQueries({ queryKey: ['me'] });
  };
  const queries = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        retry: (count, error) => count < 2 && failureOf(error).retry === 'later',
        retryDelay: (attempt) => 500 * 3 ** attempt,
      },
      mutations: { retry: false },
    },
  });
  if (me !== null) rememberMe(queries, me);
  return queries;
}

interface ProvidersProps {
  readonly locale: Locale;
  readonly messages: Partial<Messages>;
  readonly nonce: string | undefined;
  readonly me: Me | null;
  readonly children: ReactNode;
}

export function Providers({ locale, messages, nonce, me, children }: ProvidersProps) {
  const [queries] = useState(() => createQueryClient(me));
  return (
    <ThemeProvider
      {...(nonce === undefined ? {} : { nonce })}
      attribute="class"
      defaultTheme="system"
      enableSystem
      disableTransitionOnChange
    >
      <NextIntlClientProvider locale={locale} messages={messages} timeZone="UTC">
        <QueryClientProvider client={queries}>
          <TooltipProvider>{children}</TooltipProvider>
          <Toasts />
          <OfflineWorker />
        </QueryClientProvider>
      </NextIntlClientProvider>
    </ThemeProvider>
  );
}

function Toasts() {
  const { resolvedTheme } = useTheme();
  return (
    <Toaster
      theme={resolvedTheme === 'dark' ? 'dark' : 'light'}
      position="bottom-right"
      toastOptions={{
        style: {
          background: 'var(--surface)',
          color: 'var(--ink)',
          borderColor: 'var(--line-strong)',
          fontFamily: 'var(--font-sans)',
        },
      }}
    />
  );
}
