'use client';
import type { EgressRequest } from '@slipway/contracts/sandboxes';
import { CircleSlash } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { asAhead } from '../../browser/ago.tsx';
import { boundOf } from './request-bounds.ts';

/** That further hosts are refused without a request, and until when. */
export function AskedTooOften({ requests }: { requests: readonly EgressRequest[] }) {
  const t = useTranslations();
  const bound = boundOf(requests, Date.now());
  if (bound === null) return null;
  return (
    <p role="status" className="shrink-0 bg-surface px-4 pt-2 md:px-6">
      <span className="mx-auto flex max-w-3xl items-start gap-2 text-xs text-ink-muted">
        <CircleSlash aria-hidden className="mt-0.5 size-3.5 shrink-0 text-warn" />
        <span>
          {bound.kind === 'waiting'
            ? t('egress.noMoreWhileTheseWait', { count: bound.count })
            : t.rich('egress.noMoreWithinTheHour', { count: bound.count, at: bound.until, ahead: asAhead })}
        </span>
      </span>
    </p>
  );
}
