'use client';
import { visibleMarks } from '@slipway/domain/review';
import { cn, ScrollBox } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { suggestedLines } from './suggestion.ts';

const LOOKS = { ' ': 'text-ink-muted', '-': 'bg-bad-soft text-bad', '+': 'bg-ok-soft text-ok' } as const;

/** What a comment wants the lines to be, as a small diff. */
export function SuggestedChange({ excerpt, suggestion }: { excerpt: string; suggestion: string }) {
  const t = useTranslations();
  return (
    <ScrollBox
      label={t('reviewPage.suggestedChange')}
      className="max-h-60 overflow-auto rounded border border-line font-mono text-xs whitespace-pre"
    >
      {suggestedLines(excerpt, suggestion).map(({ sign, text }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name
        <div key={index} className={cn('min-w-max px-2', LOOKS[sign])}>
          {`${sign} ${visibleMarks(text.replace(/\r$/, ''))}`}
        </div>
      ))}
    </ScrollBox>
  );
}
