import type { IntegrationDelivery } from '@slipway/contracts/integrations';
import { Badge, cn } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { DELIVERY_STATES_SHOWN } from './connection-words.ts';

/** State by shape and word, and the reason as a sentence. */
export function DecisionWords({
  delivery: { state, reason },
  className,
}: {
  delivery: Pick<IntegrationDelivery, 'state' | 'reason'>;
  className?: string;
}) {
  const t = useTranslations();
  const { label, tone } = DELIVERY_STATES_SHOWN[state];
  return (
    <span className={cn('flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1', className)}>
      <Badge tone={tone}>{t(label)}</Badge>
      <span className="min-w-0 text-sm break-words">
        {reason === null ? t('adminIntegrations.decisionPending') : reason.text}
        {reason === null || reason.detail === null ? null : <span className="text-ink-muted"> {reason.detail}</span>}
      </span>
    </span>
  );
}
