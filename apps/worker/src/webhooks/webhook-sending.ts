import { type Envelope, outgoingWebhookContext } from '@slipway/auth/envelope';
import type { QueuePayload } from '@slipway/contracts/operate';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { Clock, Ids } from '@slipway/domain';
import { standardHeaders } from '@slipway/integrations';
import { type ProviderDispatch } from '@slipway/integrations/dispatch';
import { isRefusedAddress } from '@slipway/outside/agent';
import type { Logger } from '@slipway/telemetry';
import { delayOutboxRow, deleteOutboxJob, readOutboxJob } from '../orgs/orgs.queries.js';
import {
  type Attempt,
  claimMessage,
  type DueMessage,
  endAttempt,
  endWebhook,
  noteWebhook,
} from './webhook-messages.queries.js';

const QUEUE = 'webhook-message';
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Longest for one whole answer. Milliseconds. */
const TIMEOUT_MS = 15_000;
/** Whoever died with a message leaves it to another after this. Longer than an attempt. Milliseconds. */
const CLAIM_MS = 2 * TIMEOUT_MS;
/** Between attempts; after the last the message is given up, within 24 hours. Milliseconds. */
const WAITS_MS = [5_000, MINUTE_MS, 10 * MINUTE_MS, HOUR_MS, 3 * HOUR_MS, 8 * HOUR_MS, 11 * HOUR_MS] as const;
const GIVE_UP_MS = 24 * HOUR_MS;
/** Nothing was taken for so long: the webhook ends. Milliseconds. */
const FAILING_MS = 5 * 24 * HOUR_MS;
/** Of an answer that is kept. Bytes. */
const KEPT_BYTES = 500;

/** What came of one attempt. */
type Sent =
  | { readonly status: number; readonly answer: string; readonly retryAfterMs: number | null }
  | { readonly status: null; readonly problem: string };

/**
 * Sends one message of a webhook. At least once: a message that was taken and whose sender died comes again, with the
 * same id.
 */
export class WebhookSending {
  constructor(
    private readonly pool: SqlPool,
    private readonly envelope: Envelope,
    private readonly dispatch: ProviderDispatch,
    private readonly clock: Clock,
    private readonly ids: Ids,
    private readonly logger: Logger,
    private readonly timeoutMs: number = TIMEOUT_MS,
  ) {}

  /**
   * @returns how long until it is to run again, which the outbox sees to. Milliseconds; `null`: there is nothing left
   * to send.
   */
  async run({ orgId, messageId }: QueuePayload<typeof QUEUE>, signal: AbortSignal): Promise<number | null> {
    const wanted = await readOutboxJob(this.pool, orgId, QUEUE, messageId);
    const next = await this.attempt(orgId, messageId, signal);
    if (wanted !== null) {
      if (next === null) await deleteOutboxJob(this.pool, orgId, wanted.id);
      else await delayOutboxRow(this.pool, orgId, wanted.id, next);
    }
    return next;
  }

  private async attempt(orgId: string, messageId: string, signal: AbortSignal): Promise<number | null> {
    const claim = await inOrg(this.pool, orgId, (client) =>
      claimMessage(client, orgId, messageId, { now: this.clock.now(), claimMs: CLAIM_MS }),
    );
    if (claim.kind === 'done') return null;
    if (claim.kind === 'wait') return claim.ms;
    const { message } = claim;
    const sent = await this.send(orgId, message, signal);
    const now = this.clock.now();
    const attempt = attemptOf(message, sent, now);
    const ended = await inOrg(this.pool, orgId, async (client) => {
      await endAttempt(client, orgId, messageId, attempt);
      await noteWebhook(client, orgId, message.webhookId, attempt.state === 'delivered' ? null : now);
      const reason = endOf(message, sent, now);
      return (
        reason !== null && (await endWebhook(client, orgId, message.webhookId, { reason, auditId: this.ids.uuid() }))
      );
    });
    if (ended)
      this.logger.warn(
        { webhook_id: message.webhookId, org_id: orgId },
        'webhook disabled, its target accepts nothing',
      );
    return attempt.nextAt === null ? null : attempt.nextAt.getTime() - now.getTime();
  }

  private async send(orgId: string, message: DueMessage, signal: AbortSignal): Promise<Sent> {
    const secrets = await Promise.all(
      message.secrets.map((secret) =>
        this.envelope.open(orgId, secret, outgoingWebhookContext({ id: secret.id, webhookId: message.webhookId })),
      ),
    );
    const headers = {
      ...standardHeaders(secrets, { id: message.id, body: message.body, at: this.clock.now() }),
      'content-type': 'application/json',
      'user-agent': 'Slipway-Webhooks/1',
    };
    const request = {
      method: 'POST',
      headers,
      body: message.body,
      redirect: 'manual' as const,
      signal: AbortSignal.timeout(this.timeoutMs),
    };
    try {
      const response = await this.dispatch.send(message.url, request, signal);
      return {
        status: response.status,
        answer: await firstOf(response),
        retryAfterMs: retryAfter(response.headers.get('retry-after')),
      };
    } catch (error) {
      signal.throwIfAborted();
      if (isRefusedAddress(error))
        return {
          status: null,
          problem: 'The address is not public, and the operator has not named it (INTEGRATION_PRIVATE_HOSTS).',
        };
      return { status: null, problem: `The address does not answer within ${this.timeoutMs / 1_000} s.` };
    }
  }
}

function attemptOf({ attempts, createdAt }: DueMessage, sent: Sent, now: Date): Attempt {
  const answered = { status: sent.status, answer: sent.status === null ? null : sent.answer };
  if (sent.status !== null && sent.status >= 200 && sent.status < 300)
    return { ...answered, state: 'delivered', nextAt: null, problem: null };
  const problem =
    sent.status === null
      ? sent.problem
      : sent.status >= 300 && sent.status < 400
        ? 'A redirect is not followed.'
        : `It was answered ${sent.status}.`;
  const wait = WAITS_MS[attempts - 1];
  const waitMs = wait === undefined ? null : Math.max(wait, sent.status === null ? 0 : (sent.retryAfterMs ?? 0));
  const over = waitMs === null || sent.status === 410 || now.getTime() + waitMs - createdAt.getTime() > GIVE_UP_MS;
  return {
    ...answered,
    problem,
    state: over ? 'given-up' : 'waiting',
    nextAt: over ? null : new Date(now.getTime() + waitMs),
  };
}

/** Why the webhook is called no more; `null`: it is. */
function endOf({ failingSince }: DueMessage, sent: Sent, now: Date): string | null {
  if (sent.status === 410) return 'The address answered that it is gone (410).';
  if (sent.status !== null && sent.status >= 200 && sent.status < 300) return null;
  return failingSince !== null && now.getTime() - failingSince.getTime() > FAILING_MS
    ? 'Nothing was taken for five days.'
    : null;
}

/** Seconds, as most say it; a date or nonsense is not waited for. */
function retryAfter(header: string | null): number | null {
  return header !== null && /^\d{1,6}$/.test(header) ? Number(header) * 1_000 : null;
}

/** The beginning of an answer, as text. The remainder is not read. */
async function firstOf(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of response.body ?? []) {
    parts.push(part);
    length += part.length;
    if (length >= KEPT_BYTES) break;
  }
  return Buffer.concat(parts)
    .subarray(0, KEPT_BYTES)
    .toString('utf8')
    .replace(/\p{Cc}/gu, ' ')
    .toWellFormed();
}
