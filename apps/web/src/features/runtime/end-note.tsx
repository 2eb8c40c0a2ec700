'use client';
import { Info } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { useView } from '../conversation/conversation-context.ts';
import { useSession } from '../session/me.ts';
import { unexplainedEnd } from './runtime-words.ts';
import { useRuntime } from './use-runtime.ts';

/** Why it does not go on and what to do, under a timeline that does not say it. */
export function EndNote() {
  const t = useTranslations();
  const { org } = useSession();
  const status = useView((view) => view.status);
  const rows = useView((view) => view.timeline.rows);
  const runtime = useRuntime(status !== 'working' && status !== 'starting');
  const note = runtime === null ? null : unexplainedEnd(t, runtime, status, rows);
  if (note === null) return null;
  // Who may only watch can do nothing about it.
  const text = [note.cause, org.permissions.includes('conversation:write') ? note.nextStep : '']
    .filter((part) => part !== '')
    .join(' ');
  if (text === '') return null;
  return (
    <div className="shrink-0 px-4 py-1.5 md:px-6">
      <p className="mx-auto flex max-w-3xl gap-2 text-sm text-ink-muted">
        <Info aria-hidden className="mt-0.5 size-4 shrink-0" />
        <span className="line-clamp-4 min-w-0 break-words">{text}</span>
      </p>
    </div>
  );
}
