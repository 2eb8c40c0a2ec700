'use client';
import { StatusChip } from '@slipway/ui';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { memo } from 'react';
import { Ago } from '../../browser/ago.tsx';
import { STATUS_LABELS } from '../conversations/status-label.ts';
import { useSession } from '../session/me.ts';
import type { DeskLine } from './desk-store.ts';
import { addressOf } from './desk-words.ts';

/** One line of what is ready to be looked at, or works: its title, and what it said or does. */
export const DeskShortRow = memo(function DeskShortRow({ line }: { line: DeskLine }) {
  const t = useTranslations();
  const { org } = useSession();
  const { facts, group } = line;
  const said = group === 'working' ? facts.doing?.text || facts.doing?.tool : facts.lastWord?.text;
  return (
    <li data-desk-line={facts.id}>
      <Link
        data-opens
        href={addressOf(org.slug, line, null)}
        className="flex h-11 items-center gap-3 px-4 text-sm outline-offset-[-2px] hover:bg-raised"
      >
        <span dir="auto" className="max-w-[60%] min-w-0 shrink-0 truncate font-medium">
          {facts.title}
        </span>
        <span dir="auto" className="min-w-0 flex-1 truncate text-xs text-ink-muted">
          {said ?? ''}
        </span>
        <Ago at={facts.since} className="shrink-0 text-xs text-ink-muted max-sm:hidden" />
        {group === 'working' ? (
          <StatusChip state={facts.status} label={t(STATUS_LABELS[facts.status])} className="shrink-0" />
        ) : null}
      </Link>
    </li>
  );
});
