'use client';
import type { Me, Org } from '@slipway/contracts/organizations';
import { useTranslations } from 'next-intl';
import { type ReactNode, useMemo } from 'react';
import { CommandProvider } from '../commands/command-context.tsx';
import { ShellCommands } from '../commands/shell-commands.tsx';
import { usePreview } from '../conversation/page-preview.tsx';
import { DeskProvider } from '../desk/desk-context.tsx';
import { SessionContext } from '../session/me.ts';
import { AdoptTheme } from '../settings/adopt-theme.tsx';
import { DeletionNote } from './deletion-note.tsx';
import { FocusHeading } from './focus-heading.tsx';
import { CompactHeader, Rail } from './navigation.tsx';
import { OfflineNote } from './offline-note.tsx';
import { UntilHydrated } from './until-hydrated.tsx';

/** The rail and a page beside it. Pages under it may take the session for granted. */
export function Shell({ me, org, children }: { me: Me; org: Org; children: ReactNode }) {
  const t = useTranslations();
  const isText = (usePreview()?.rows.length ?? 0) > 0;
  const session = useMemo(() => ({ me, org }), [me, org]);
  return (
    <SessionContext value={session}>
      <DeskProvider>
        <CommandProvider>
          <AdoptTheme />
          <a
            href="#content"
            className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-md focus:bg-accent focus:px-3 focus:py-1 focus:text-on-accent"
          >
            {t('frame.skipToContent')}
          </a>
          <div className="flex h-dvh flex-col md:flex-row">
            <UntilHydrated>
              <CompactHeader />
              <Rail />
            </UntilHydrated>
            <main id="content" tabIndex={-1} className="flex min-h-0 min-w-0 flex-1 flex-col outline-none">
              <OfflineNote />
              <DeletionNote />
              <div className="min-h-0 flex-1">
                <UntilHydrated isText={isText}>{children}</UntilHydrated>
              </div>
            </main>
          </div>
          <FocusHeading />
          <ShellCommands />
        </CommandProvider>
      </DeskProvider>
    </SessionContext>
  );
}
