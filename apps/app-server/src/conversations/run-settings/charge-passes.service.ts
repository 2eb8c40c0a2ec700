import { createHash, randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { CHARGE_PASS_HEADER } from '@slipway/contracts/agent';
import { type ChargePass } from '@slipway/contracts/models';
import { type Principal } from '@slipway/contracts/organizations';
import { SlipwayError } from '@slipway/errors';
import type { Config } from '../../config.js';
import { CONFIG } from '../../platform/tokens.js';

/** Empty, or the pass by which model calls count for who asks. */
export interface ChargePassHeader {
  readonly [CHARGE_PASS_HEADER]?: string;
}

/** Longest wait for the gateway. Milliseconds. */
const TIMEOUT_MS = 3_000;
/** Longest label that the gateway takes. Characters. */
const MAX_LABEL = 200;

/** Has model calls beside the task of a conversation count for who asks, and not for who pays for the task. */
@Injectable()
export class ChargePassesService {
  constructor(@Inject(CONFIG) private readonly config: Config) {}

  /**
   * @returns the header that the sandbox is to show. The gateway knows it when this resolves. @throws SlipwayError
   * `service.unavailable`: nothing may be asked then.
   */
  async give({ orgId, actor }: Principal, conversation: string): Promise<ChargePassHeader> {
    const pass = randomBytes(32).toString('base64url');
    const sha256 = createHash('sha256').update(pass).digest('hex');
    const body: ChargePass = {
      org: orgId,
      conversation,
      user: actor.id,
      userLabel: actor.label.slice(0, MAX_LABEL),
      sha256,
    };
    const response = await fetch(new URL('/internal/charge-passes', this.config.LLM_GATEWAY_URL), {
      method: 'POST',
      headers: { authorization: `Bearer ${this.config.LLM_GATEWAY_MASTER_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch((error: unknown) => {
      throw unavailable(error);
    });
    await response.body?.cancel();
    // A gateway of the release before this one, while releases roll: it counts for the task, as it did.
    if (response.status === 404) return {};
    if (!response.ok) throw unavailable(new Error(`llm-gateway answered ${response.status}`));
    return { [CHARGE_PASS_HEADER]: pass };
  }
}

function unavailable(cause: unknown): SlipwayError {
  return new SlipwayError(
    'service.unavailable',
    'The model gateway cannot be told that this counts for you. Ask again.',
    { cause, retryAfterSeconds: 1 },
  );
}
