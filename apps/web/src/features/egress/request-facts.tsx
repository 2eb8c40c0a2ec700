'use client';
import type { EgressRequest } from '@slipway/contracts/sandboxes';
import { Badge } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { asAgo } from '../../browser/ago.tsx';

/** What is known of a host that a sandbox asks for. */
export function RequestFacts({ request }: { request: EgressRequest }) {
  const t = useTranslations();
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-ink-muted">
      {request.firstTime ? <Badge tone="warn">{t('egress.firstTime')}</Badge> : null}
      <span>{t('egress.tries', { tries: request.tries })}</span>
      <span>{t.rich('egress.asked', { at: request.createdAt, ago: asAgo })}</span>
    </div>
  );
}
