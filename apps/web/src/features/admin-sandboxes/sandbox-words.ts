import type { LiveSandbox } from '@slipway/contracts/sandboxes';
import type { MessageKey, Translate } from '../../messages/translate.ts';

export const SANDBOX_STATE_WORDS: Readonly<
  Record<
    LiveSandbox['state'],
    { readonly label: MessageKey; readonly tone: 'ok' | 'warn' | 'neutral' | 'bad' | 'accent' }
  >
> = {
  starting: { label: 'adminSandboxes.starting', tone: 'accent' },
  running: { label: 'adminSandboxes.running', tone: 'ok' },
  pausing: { label: 'adminSandboxes.pausing', tone: 'warn' },
};

/** Seconds as an admin reads them of a queue: coarse, never a lie of precision. */
export function estimate(t: Translate, seconds: number | null): string {
  if (seconds === null) return t('adminSandboxes.unknown');
  if (seconds < 10) return t('adminSandboxes.aFewSeconds');
  if (seconds < 90) return t('adminSandboxes.aboutS', { seconds: Math.round(seconds / 10) * 10 });
  return t('adminSandboxes.aboutMin', { minutes: Math.round(seconds / 60) });
}
