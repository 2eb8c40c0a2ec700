import { Card } from '@slipway/ui';
import type { ReactNode } from 'react';
import { Logo } from './logo.tsx';
import { UntilHydrated } from './until-hydrated.tsx';

/** A page of its own, without the navigation: sign-in, gates, an invitation, a code. */
export function AloneCard({ title, children }: { title: string; children: ReactNode }) {
  return (
    <main className="grid h-dvh place-items-center overflow-auto p-4">
      <Card className="flex w-full max-w-md flex-col gap-4 p-6 shadow-float sm:p-8">
        <div className="flex items-center gap-2.5">
          <Logo className="size-8 shrink-0" />
          <h1 className="min-w-0 text-xl font-semibold break-words">{title}</h1>
        </div>
        <UntilHydrated>{children}</UntilHydrated>
      </Card>
    </main>
  );
}
