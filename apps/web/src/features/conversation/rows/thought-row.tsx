'use client';
import { Lightbulb } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { Markdown } from '../markdown.tsx';
import type { RowOf } from '../timeline-row.ts';
import { Disclosure } from './disclosure.tsx';

export function ThoughtRow({ row }: { row: RowOf<'thought'> }) {
  const t = useTranslations();
  const first = row.text.trim().split('\n', 1)[0] ?? '';
  return (
    <Disclosure rowKey={row.key} icon={<Lightbulb aria-hidden />} label={t('conversation.thought', { first })}>
      <div className="border-l-2 border-line pl-3 text-sm text-ink-muted">
        <Markdown text={row.text} />
      </div>
    </Disclosure>
  );
}
