'use client';
import { useTranslations } from 'next-intl';
import { useHydrated } from '../../browser/hydrated.ts';
import { NeedsYou, ReadyAndWorking } from '../desk/desk.tsx';
import { GettingStarted } from '../getting-started/getting-started.tsx';
import { useSession } from '../session/me.ts';
import { Composer } from './composer.tsx';
import { SuggestedTasks } from './suggested-tasks.tsx';

/** The Desk: what needs this user, a new task, and what is ready or works. */
export function Home() {
  const t = useTranslations();
  const { org } = useSession();
  const hydrated = useHydrated();
  const mayCreate = org.permissions.includes('conversation:create');
  return (
    <div className="h-full overflow-auto">
      <div className="mx-auto flex max-w-3xl flex-col gap-8 px-4 py-8">
        <NeedsYou />
        <section className="flex flex-col gap-4" aria-labelledby="new-task">
          <h1 id="new-task" className="text-xl font-semibold">
            {mayCreate ? t('common.newTask') : t('home.agentsIn', { name: org.name })}
          </h1>
          {mayCreate ? (
            // Begun anew once its scripts are there: text, files and fields start with what this browser kept.
            <Composer key={hydrated ? 'kept' : 'empty'} />
          ) : (
            <p className="text-sm text-ink-muted">{t('home.youHaveViewAccessAnd', { name: org.name })}</p>
          )}
        </section>
        {mayCreate ? <GettingStarted /> : null}
        {mayCreate ? <SuggestedTasks /> : null}
        <ReadyAndWorking />
      </div>
    </div>
  );
}
