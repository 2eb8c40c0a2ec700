'use client';
import { IconButton } from '@slipway/ui';
import { X } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { usePermalink } from './use-permalink.ts';

/** Says that the event of the address is not there: nothing else tells a wrong link from the end of the log. */
export function PermalinkNote() {
  const t = useTranslations();
  const [missing, dismiss] = usePermalink();
  if (missing === null) return null;
  return (
    <p
      role="status"
      className="pointer-events-auto flex max-w-xl items-center gap-2 rounded-md border border-line bg-surface py-1 pr-1 pl-3 text-sm shadow-float"
    >
      <bdi>{t('reading.noSuchEvent', { event: missing.slice(0, 40) })}</bdi>
      <IconButton label={t('reading.dismiss')} size="icon-small" onClick={dismiss}>
        <X aria-hidden />
      </IconButton>
    </p>
  );
}
