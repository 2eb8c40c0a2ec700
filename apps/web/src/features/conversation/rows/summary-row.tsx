'use client';
import { ListCollapse } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { Markdown } from '../markdown.tsx';
import type { RowOf } from '../timeline-row.ts';
import { Disclosure } from './disclosure.tsx';

/** Everything is still here to read; only the agent's model goes by the summary. */
export function SummaryRow({ row }: { row: RowOf<'summary'> }) {
  const t = useTranslations();
  return (
    <Disclosure
      rowKey={row.key}
      icon={<ListCollapse aria-hidden />}
      label={t('conversation.earlierStepsWereSummarizedFor')}
    >
      <div className="border-l-2 border-line pl-3 text-sm text-ink-muted">
        <Markdown text={row.text} />
      </div>
    </Disclosure>
  );
}
