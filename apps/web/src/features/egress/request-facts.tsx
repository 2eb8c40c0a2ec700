'use client';
import type { EgressRequest } from '@slipway/contracts/sandboxes';
import { Badge } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { asAgo } from '../../browser/ago.tsx';

/** What is known of a host that a sandbox asks for. @param brief beside others: without the time. */
export function RequestFacts({ request, brief = false }: { request: EgressRequest; brief?: boolean }) {
  const t = useTranslations();
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-ink-muted">
      {request.firstTime ? <Badge tone="warn">{t('egress.firstTime')}</Badge> : null}
      <span>{t('egress.tries', { tries: request.tries })}</span>
      {brief ? null : <span>{t.rich('egress.asked', { at: request.createdAt, ago: asAgo })}</span>}
    </div>
  );
}
