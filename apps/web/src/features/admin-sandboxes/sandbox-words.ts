import type { LiveSandbox } from '@slipway/contracts';

export const SANDBOX_STATE_WORDS: Readonly<
  Record<LiveSandbox['state'], { readonly label: string; readonly tone: 'ok' | 'warn' | 'neutral' | 'bad' | 'accent' }>
> = {
  starting: { label: 'Starting', tone: 'accent' },
  running: { label: 'Running', tone: 'ok' },
  pausing: { label: 'Pausing', tone: 'warn' },
};

/** Seconds as an admin reads them of a queue: coarse, never a lie of precision. */
export function estimate(seconds: number | null): string {
  if (seconds === null) return 'cannot be said';
  if (seconds < 10) return 'a few seconds';
  if (seconds < 90) return `about ${Math.round(seconds / 10) * 10} s`;
  return `about ${Math.round(seconds / 60)} min`;
}
