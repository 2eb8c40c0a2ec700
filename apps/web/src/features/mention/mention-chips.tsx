'use client';
import { cn } from '@slipway/ui';
import { FileText, MessagesSquare, User } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { visibleText } from '../conversation/visible-text.ts';
import { type Checked, useChecked } from './use-checked.ts';

const ICONS = { file: FileText, name: User, conversation: MessagesSquare } as const;

/** What the text of a box mentions, and what of it is not there. */
export function MentionChips({
  text,
  files,
  className,
}: {
  text: string;
  files: ReadonlyMap<string, boolean>;
  className?: string;
}) {
  const t = useTranslations();
  // A word that is neither a user's name nor known as a file may be either: it is no chip.
  const checked = useChecked(text, files).filter(
    ({ mentioned, state }) => mentioned.kind !== 'name' || state === 'found',
  );
  if (checked.length === 0) return null;
  return (
    <ul aria-label={t('mention.mentioned')} className={cn('flex flex-wrap gap-1.5', className)}>
      {checked.map((each) => (
        <Chip key={each.key} chip={each} />
      ))}
    </ul>
  );
}

function Chip({ chip: { mentioned, label, state } }: { chip: Checked }) {
  const t = useTranslations();
  const Icon = ICONS[mentioned.kind];
  return (
    <li
      className={cn(
        'flex h-6 max-w-60 items-center gap-1.5 rounded-md border px-2 text-xs',
        state === 'missing' ? 'border-bad text-bad' : 'border-line text-ink-muted',
      )}
    >
      <Icon aria-hidden className="size-3.5 shrink-0" />
      <span dir="auto" className="min-w-0 truncate">
        {visibleText(label)}
      </span>
      {state === 'missing' ? <span className="shrink-0 font-medium">{t('mention.notFound')}</span> : null}
    </li>
  );
}
