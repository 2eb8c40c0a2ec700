'use client';
import { ShieldAlert } from 'lucide-react';
import { useTranslations } from 'next-intl';
import type { RowOf } from '../timeline-row.ts';
import { Disclosure } from './disclosure.tsx';

/** Of a hook is shown only what somebody may want to know: a refusal, and one that did not run. */
export function HookRow({ row }: { row: RowOf<'hook'> }) {
  const t = useTranslations();
  const first = row.text.trim().split('\n', 1)[0] ?? '';
  return (
    <Disclosure
      rowKey={row.key}
      icon={<ShieldAlert aria-hidden />}
      label={`${row.blocked ? t('conversation.blockedByAHook') : t('conversation.aHookFailedToRun')}: ${first}`}
    >
      <div className="border-l-2 border-line pl-3 text-sm text-ink-muted">
        <p className="break-words whitespace-pre-wrap">{row.text}</p>
        <p className="mt-1 font-mono text-xs break-all">
          {row.type}: {row.command}
        </p>
      </div>
    </Disclosure>
  );
}
