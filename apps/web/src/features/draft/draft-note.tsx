'use client';
import { Button } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import type { DraftState } from './use-draft.ts';

/** What the writer should know of the draft: text of another device, or that it is kept here alone. */
export function DraftNote({ draft, onTake }: { draft: DraftState; onTake: (other: string) => void }) {
  const t = useTranslations();
  const { other, dropOther, isLocal } = draft;
  if (other !== null)
    return (
      <div role="status" className="flex flex-wrap items-center gap-2 rounded-md bg-raised px-2.5 py-1 text-sm">
        <span className="min-w-0 flex-1 basis-48">
          <span className="text-ink-muted">{t('draft.fromAnotherDevice')}</span>{' '}
          <span dir="auto" className="line-clamp-2 break-words">
            {other.slice(0, 500)}
          </span>
        </span>
        <Button
          size="small"
          onClick={() => {
            onTake(other);
            dropOther();
          }}
        >
          {t('draft.insert')}
        </Button>
        <Button size="small" tone="quiet" onClick={dropOther}>
          {t('draft.dismiss')}
        </Button>
      </div>
    );
  return isLocal ? <p className="text-xs text-ink-muted">{t('draft.tooLongToKeep')}</p> : null;
}
