import { Inject, Injectable } from '@nestjs/common';
import { Envelope } from '@slipway/auth/envelope';
import { type QueuePayload } from '@slipway/contracts/operate';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import { type Provider } from '@slipway/integrations';
import {
  claimDeed,
  examine,
  findDelivery,
  lockUndecided,
  noteAttempt,
  noticeOf,
  type StoredDelivery,
  wantNotice,
  writeDecision,
} from '@slipway/integrations/deliveries';
import { currentContext, type Logger, runInContext } from '@slipway/telemetry';
import { Jobs } from '../../platform/jobs.js';
import { LOGGER, SQL_POOL } from '../../platform/tokens.js';
import { KNOWN_PROVIDERS } from '../known-providers.js';
import { PressActs, type PressOutcome } from './press-acts.js';
import { dropQueuedPress, findQueuedPress, wantShown } from './presses.queries.js';

type Decided = PressOutcome & { readonly detail?: string | null };

/**
 * Does what a pressed button of a thread says, as the linked user and by the services that the page uses: worker has
 * decided that it is a press, and hands it here. The delivery keeps the press until its decision is written, so a
 * process that dies, or a sandbox that does not answer, repeats it: the first answer counts.
 */
@Injectable()
export class PressesService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(KNOWN_PROVIDERS) private readonly providers: ReadonlyMap<string, Provider>,
    private readonly envelope: Envelope,
    private readonly acts: PressActs,
    private readonly jobs: Jobs,
  ) {}

  /** @throws what keeps it from being decided now; it is repeated then. */
  async run({ orgId, deliveryId }: QueuePayload<'integration-press'>): Promise<void> {
    const [queued, stored] = await inOrg(this.pool, orgId, async (client) => [
      await findQueuedPress(client, deliveryId),
      await findDelivery(client, orgId, deliveryId),
    ]);
    if (stored?.state === 'received') {
      try {
        // The audit names the delivery as the request.
        const context = { traceId: currentContext()?.traceId ?? '', requestId: deliveryId };
        await runInContext(context, () => this.decide(stored));
      } catch (error) {
        await noteAttempt(this.pool, orgId, deliveryId).catch(() => {});
        throw error;
      }
    }
    if (queued !== null) await inOrg(this.pool, orgId, (client) => dropQueuedPress(client, queued));
  }

  private async decide(stored: StoredDelivery): Promise<void> {
    const { id, orgId, connection } = stored;
    const { reading, decision, standing } = await examine(
      this.pool,
      this.envelope,
      this.providers.get(connection.provider),
      stored,
    );
    const outcome: Decided =
      decision.state === 'act'
        ? await this.acts.carryOut(stored, decision, standing?.thread?.conversationId ?? null)
        : decision;
    const intent = reading.kind === 'intent' ? reading.intent : null;
    const conversationId = standing?.thread?.conversationId ?? null;
    const said = await inOrg(this.pool, orgId, async (client) => {
      if (!(await lockUndecided(client, orgId, id))) return null;
      if (intent !== null && outcome.state === 'done')
        await claimDeed(
          client,
          orgId,
          { provider: connection.provider, host: connection.host, semanticKey: intent.semanticKey },
          id,
        );
      await writeDecision(client, orgId, id, {
        ...outcome,
        detail: outcome.detail ?? null,
        semanticKey: intent?.semanticKey ?? null,
        conversationId,
      });
      if (conversationId !== null) await wantShown(client, orgId, conversationId);
      const notice = outcome.state === 'refused' && intent !== null ? noticeOf(outcome.code, intent) : null;
      return notice === null || intent === null
        ? null
        : wantNotice(client, orgId, { connectionId: connection.id, thread: intent.thread, notice, deed: null });
    });
    this.logger.info(
      { delivery_id: id, connection_id: connection.id, state: outcome.state, reason: outcome.code },
      'press decided',
    );
    if (conversationId !== null) this.jobs.enqueueAs('integration-answer', conversationId, { orgId, conversationId });
    if (said !== null) this.jobs.enqueueAs('integration-notice', said, { orgId, answerId: said });
  }
}
