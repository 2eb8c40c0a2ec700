import type { SecretBox } from '@slipway/auth';
import { z } from 'zod';

const SwitchState = z.object({ redirect: z.string(), loginHint: z.string().nullable(), expiresAtMs: z.number() });
export type SwitchState = z.infer<typeof SwitchState>;

/**
 * Where a browser goes on after the issuer has signed it out: sealed, since it comes back through an address that
 * anybody can write.
 */
export function sealSwitch(box: SecretBox, state: SwitchState): string {
  return box.encrypt(JSON.stringify(state), 'switch').toString('base64url');
}

/** `null` for one that is absent, over, or not sealed by this server. */
export function openSwitch(box: SecretBox, sealed: unknown, now: Date): SwitchState | null {
  if (typeof sealed !== 'string') return null;
  try {
    const state = SwitchState.parse(JSON.parse(box.decrypt(Buffer.from(sealed, 'base64url'), 'switch')));
    return state.expiresAtMs > now.getTime() ? state : null;
  } catch {
    return null;
  }
}
