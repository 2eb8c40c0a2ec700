'use client';
import type { EgressRequest } from '@slipway/contracts/sandboxes';
import { CircleAlert, CircleX, Clock, Globe, type LucideIcon, ShieldCheck } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { Ago } from '../../../browser/ago.tsx';
import { egressWords, isOnRecord } from '../../egress/egress-words.ts';
import { useRequestsReadUpTo } from '../../egress/use-egress-requests.ts';
import type { RowOf } from '../timeline-row.ts';

const ICONS: Record<EgressRequest['state'], LucideIcon> = {
  waiting: Globe,
  allowed: ShieldCheck,
  denied: CircleX,
  expired: Clock,
};

/** A host that the sandbox asked for, or the answer. What the server does not confirm is marked as such. */
export function EgressRow({ row: { request, at, seq } }: { row: RowOf<'egress'> }) {
  const t = useTranslations();
  const onRecord = isOnRecord(request, useRequestsReadUpTo(seq));
  const Icon = onRecord ? ICONS[request.state] : CircleAlert;
  const said = egressWords(t, request);
  return (
    <p className="flex items-start gap-2 py-2 text-sm text-ink-muted">
      <Icon aria-hidden className="mt-0.5 size-4 shrink-0" />
      <span className="min-w-0 [overflow-wrap:anywhere]">
        {onRecord ? said : t('egress.notOnRecord', { said })}
        <span className="text-xs">
          {' · '}
          <Ago at={at} />
        </span>
      </span>
    </p>
  );
}
