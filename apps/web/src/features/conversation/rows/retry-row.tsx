'use client';
import { RotateCw } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { LongText } from '../long-text.tsx';
import type { RowOf } from '../timeline-row.ts';
import { Disclosure } from './disclosure.tsx';

/** Longest words of a failure that stand in the line itself. UTF-16 code units. */
const INLINE = 240;

/** A call of the model that failed and was made again; a provider's long words are folded. */
export function RetryRow({ row: { key, failures, detail } }: { row: RowOf<'retry'> }) {
  const t = useTranslations();
  const said = t('conversation.theModelFailedAndWas', { failures });
  if (detail.length > INLINE)
    return (
      <Disclosure rowKey={key} className="py-1" icon={<RotateCw aria-hidden />} label={said}>
        <LongText text={detail} className="text-sm [overflow-wrap:anywhere] whitespace-pre-wrap text-ink-muted" />
      </Disclosure>
    );
  return (
    <p className="flex items-start gap-2 py-2 text-sm text-ink-muted">
      <RotateCw aria-hidden className="mt-0.5 size-4 shrink-0" />
      <span className="min-w-0 [overflow-wrap:anywhere]">
        {said}: {detail}
      </span>
    </p>
  );
}
