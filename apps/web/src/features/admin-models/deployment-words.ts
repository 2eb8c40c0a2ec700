import type { ModelDeployment } from '@slipway/contracts/models';
import type { StatusChip } from '@slipway/ui';
import type { ComponentProps } from 'react';
import type { Translate } from '../../messages/translate.ts';

interface StateWords {
  /** `null`: there is nothing to say with a colour. */
  readonly chip: ComponentProps<typeof StatusChip>['state'] | null;
  readonly label: string;
}

/** What a place's breaker says of it. A place that nobody has called yet is not called healthy. */
export function stateOf(
  t: Translate,
  { state, coolsDown, calls }: Pick<ModelDeployment, 'state' | 'coolsDown' | 'calls'>,
): StateWords {
  if (state === 'open')
    return coolsDown
      ? { chip: 'paused', label: t('adminModels.coolingDown') }
      : { chip: 'failed', label: t('adminModels.notUsed') };
  if (state === 'half-open') return { chip: 'waiting', label: t('adminModels.retriedOnNextCall') };
  return calls === 0
    ? { chip: null, label: t('adminModels.notCalledYet') }
    : { chip: 'finished', label: t('common.working') };
}

/** `850 ms`, `2.4 s`. */
export function shortTime(t: Translate, ms: number): string {
  return ms < 1_000 ? t('adminModels.ms', { ms }) : `${(ms / 1_000).toFixed(1)} s`;
}
