'use client';
import type { BrowserPageError } from '@slipway/contracts/live';
import { MAX_BROWSER_ERRORS } from '@slipway/contracts/live';
import { ChevronRight } from 'lucide-react';
import { useTranslations } from 'next-intl';
import type { MessageKey } from '../../messages/translate.ts';

const KINDS: Record<BrowserPageError['kind'], MessageKey> = {
  console: 'browserView.console',
  exception: 'browserView.uncaught',
  crash: 'browserView.crash',
};

/** What the pages complain of, newest first; closed until somebody wants to know. */
export function PageErrors({ errors }: { errors: readonly BrowserPageError[] }) {
  const t = useTranslations();
  if (errors.length === 0) return null;
  return (
    <details className="group shrink-0 border-t border-line">
      <summary className="flex min-h-8 cursor-pointer items-center gap-1.5 px-3 text-xs text-ink-muted hover:text-ink touch:min-h-11">
        <ChevronRight
          aria-hidden
          className="size-3.5 transition-transform group-open:rotate-90 motion-reduce:transition-none"
        />
        {errors.length >= MAX_BROWSER_ERRORS
          ? t('browserView.lastPageErrors', { max: MAX_BROWSER_ERRORS })
          : t('browserView.errorsOfPages', { count: errors.length })}
      </summary>
      <ul
        aria-label={t('browserView.pageErrors')}
        className="max-h-40 overflow-auto border-t border-line font-mono text-xs"
      >
        {errors.toReversed().map((error) => (
          <li key={error.number} className="border-b border-line px-3 py-1.5 break-words last:border-b-0">
            <span className="text-bad">{t(KINDS[error.kind])}</span> {error.text}
            <span className="block truncate text-ink-muted" title={error.page}>
              {error.page}
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}
