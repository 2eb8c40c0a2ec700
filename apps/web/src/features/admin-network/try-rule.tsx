'use client';
import type { TryEgressRule } from '@slipway/contracts/sandboxes';
import { EGRESS_TRAFFIC_DAYS } from '@slipway/contracts/sandboxes';
import { Button, SkeletonLines } from '@slipway/ui';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { api } from '../../api/client.ts';
import { ErrorNotice } from '../form/form-failure.tsx';
import { useSession } from '../session/me.ts';
import { TrialResult } from './trial-result.tsx';

/** Tries a draft on what was counted. An answer for other values than those of now is not shown. */
export function TryRule({ rule, disabled }: { rule: TryEgressRule['rule']; disabled: boolean }) {
  const t = useTranslations();
  const { org } = useSession();
  const body = JSON.stringify({ rule });
  const trial = useMutation({
    mutationFn: async (tried: string) => ({
      tried,
      result: await api.tryEgressRule({ org: org.id, body: JSON.parse(tried) as TryEgressRule }),
    }),
  });
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <div>
        <Button size="small" disabled={disabled} busy={trial.isPending} onClick={() => trial.mutate(body)}>
          {t('adminNetwork.tryOnTheLastDays', { days: EGRESS_TRAFFIC_DAYS })}
        </Button>
      </div>
      <div aria-live="polite">
        {trial.data?.tried === body ? <TrialResult trial={trial.data.result} /> : null}
        {trial.variables === body ? <ErrorNotice error={trial.error} /> : null}
      </div>
    </div>
  );
}

/** What the removal of a rule would have changed. A failure keeps nobody from removing it. */
export function TriedRemoval({ rule }: { rule: string }) {
  const t = useTranslations();
  const { org } = useSession();
  const trial = useQuery({
    queryKey: ['egress-trial', org.id, rule],
    queryFn: () => api.tryEgressRule({ org: org.id, body: { remove: rule } }),
    staleTime: 0,
    gcTime: 0,
    retry: false,
  });
  if (trial.data !== undefined) return <TrialResult trial={trial.data} />;
  if (trial.error !== null) return <p className="text-sm text-ink-muted">{t('adminNetwork.notTried')}</p>;
  return (
    <div role="status" aria-label={t('adminNetwork.trying')}>
      <SkeletonLines />
    </div>
  );
}
