'use client';
import { WifiOff } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { useOnline } from '../../browser/media.ts';

/** Says so while the machine has no network; agents go on meanwhile. */
export function OfflineNote() {
  const t = useTranslations();
  const online = useOnline();
  return (
    <div role="status">
      {online ? null : (
        <p className="flex items-center gap-2 border-b border-line bg-warn-soft px-4 py-1.5 text-sm text-warn">
          <WifiOff aria-hidden className="size-4 shrink-0" /> {t('frame.youAreOfflineAgentsKeep')}
        </p>
      )}
    </div>
  );
}
