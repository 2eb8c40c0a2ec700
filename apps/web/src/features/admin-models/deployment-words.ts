import type { ModelDeployment } from '@slipway/contracts';
import type { StatusChip } from '@slipway/ui';
import type { ComponentProps } from 'react';

interface StateWords {
  /** `null`: there is nothing to say with a colour. */
  readonly chip: ComponentProps<typeof StatusChip>['state'] | null;
  readonly label: string;
}

/** What a place's breaker says of it. A place that nobody has called yet is not called healthy. */
export function stateOf({ state, coolsDown, calls }: Pick<ModelDeployment, 'state' | 'coolsDown' | 'calls'>): StateWords {
  if (state === 'open') return coolsDown ? { chip: 'paused', label: 'Cooling down' } : { chip: 'failed', label: 'Left alone' };
  if (state === 'half-open') return { chip: 'waiting', label: 'Next call tries it' };
  return calls === 0 ? { chip: null, label: 'Not asked yet' } : { chip: 'finished', label: 'Working' };
}

/** `850 ms`, `2.4 s`. */
export function shortTime(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`;
}
