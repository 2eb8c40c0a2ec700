import { Inject, Injectable } from '@nestjs/common';
import { deliveryContext, Envelope } from '@slipway/auth/envelope';
import {
  DELIVERY_REASONS,
  type DeliveryDryRun,
  type IntegrationDelivery,
  type IntegrationDeliveryContent,
  type IntegrationDeliveryPage,
  type ListDeliveriesQuery,
  MAX_SHOWN_BODY,
} from '@slipway/contracts/integrations';
import { type Principal } from '@slipway/contracts/organizations';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import type { Ids } from '@slipway/domain';
import { notFound } from '@slipway/errors';
import type { Provider } from '@slipway/integrations';
import {
  allowedBy,
  type Decision,
  examine,
  findDelivery,
  needsRereading,
  needsWriteAccess,
  type StoredDelivery,
  unconfirmed,
  unpackDelivery,
} from '@slipway/integrations/deliveries';
import { auditOf } from '../audit/audit-statement.js';
import { Jobs } from '../platform/jobs.js';
import { wantJobAs } from '../platform/outbox.queries.js';
import { IDS, SQL_POOL } from '../platform/tokens.js';
import { findConnection } from './connections.queries.js';
import { type DeliveryRow, findDeliveryRow, listDeliveries, reopenDelivery } from './deliveries.queries.js';
import { readDeliveryCursor, writeDeliveryCursor } from './delivery-cursor.js';
import { KNOWN_PROVIDERS } from './known-providers.js';

/** The log of what a connection delivered: listed, shown, decided again, and tried without acting. */
@Injectable()
export class DeliveriesService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(KNOWN_PROVIDERS) private readonly providers: ReadonlyMap<string, Provider>,
    private readonly envelope: Envelope,
    private readonly jobs: Jobs,
  ) {}

  /** @throws SlipwayError `resource.not-found` when there is no such connection. */
  async page({ orgId }: Principal, connectionId: string, query: ListDeliveriesQuery): Promise<IntegrationDeliveryPage> {
    const after = query.cursor === undefined ? null : readDeliveryCursor(query.cursor);
    const rows = await inOrg(this.pool, orgId, async (client) => {
      await assertConnection(client, orgId, connectionId);
      return listDeliveries(client, orgId, connectionId, { state: query.state ?? null, after, limit: query.limit + 1 });
    });
    const data = rows.slice(0, query.limit).map(toDelivery);
    const last = data.at(-1);
    return {
      data,
      page: { nextCursor: rows.length > query.limit && last !== undefined ? writeDeliveryCursor(last) : null },
    };
  }

  /** @throws SlipwayError `resource.not-found` */
  async get(caller: Principal, connectionId: string, id: string): Promise<IntegrationDeliveryContent> {
    const { row, stored } = await this.find(caller, connectionId, id);
    const { headers, raw } = await unpackDelivery(
      await this.envelope.open(caller.orgId, stored.sealed, deliveryContext({ id, connectionId })),
    );
    const body = raw.toString('utf8').toWellFormed();
    return {
      ...toDelivery(row),
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? value : [...(value ?? [])]]),
      ),
      body: body.slice(0, MAX_SHOWN_BODY),
      bodyCut: body.length > MAX_SHOWN_BODY,
    };
  }

  /** Decides once more, by what holds now; what was acted on stays. @throws SlipwayError `resource.not-found` */
  async redeliver(caller: Principal, connectionId: string, id: string): Promise<IntegrationDelivery> {
    const payload = { orgId: caller.orgId, deliveryId: id };
    const row = await inOrg(this.pool, caller.orgId, async (client) => {
      const reopened = await reopenDelivery(client, caller.orgId, connectionId, id);
      if (reopened === null) throw notFound();
      await wantJobAs(client, 'integration-delivery', id, payload);
      await client.query(
        auditOf(this.ids.uuid(), caller, {
          action: 'integration.redeliver',
          target: connectionId,
          detail: { delivery: id },
        }),
      );
      return reopened;
    });
    this.jobs.enqueueAs('integration-delivery', id, payload);
    return toDelivery(row);
  }

  /**
   * What the worker would decide now; the provider is not asked, so rights there count as unknown. @throws SlipwayError
   * `resource.not-found`
   */
  async dryRun(caller: Principal, connectionId: string, id: string): Promise<DeliveryDryRun> {
    const { stored } = await this.find(caller, connectionId, id);
    const provider = this.providers.get(stored.connection.provider);
    const examined = await examine(this.pool, this.envelope, provider, stored);
    const { reading, standing } = examined;
    const { decision } = needsRereading(provider, stored, examined)
      ? unconfirmed('A dry run does not ask the provider.')
      : examined;
    const actor = standing?.actor ?? null;
    return {
      reading: { ...reading },
      decision: shown(needsWriteAccess(decision) ? allowedBy('unknown', decision) : decision),
      user: actor === null ? null : { id: actor.userId, label: actor.label },
      conversationId: standing?.thread?.conversationId ?? null,
    };
  }

  private find(
    { orgId }: Principal,
    connectionId: string,
    id: string,
  ): Promise<{ row: DeliveryRow; stored: StoredDelivery }> {
    return inOrg(this.pool, orgId, async (client) => {
      const row = await findDeliveryRow(client, orgId, connectionId, id);
      const stored = row === null ? null : await findDelivery(client, orgId, id);
      if (row === null || stored === null) throw notFound();
      return { row, stored };
    });
  }
}

async function assertConnection(client: PoolClient, orgId: string, id: string): Promise<void> {
  if ((await findConnection(client, orgId, id)) === null) throw notFound();
}

const ACTS = { start: 'conversation-started', message: 'message-added', stop: 'run-stopped', mute: 'muted' } as const;
const PRESSES = { approve: 'approved', reject: 'rejected', stop: 'run-stopped' } as const;

function shown(decision: Decision): DeliveryDryRun['decision'] {
  const code =
    decision.state !== 'act'
      ? decision.code
      : decision.act === 'press'
        ? PRESSES[decision.intent.press?.kind ?? 'stop']
        : ACTS[decision.act];
  return {
    state: decision.state === 'act' ? 'done' : decision.state,
    code,
    text: DELIVERY_REASONS[code],
    detail: decision.state === 'act' ? null : decision.detail,
  };
}

function toDelivery(row: DeliveryRow): IntegrationDelivery {
  return {
    id: row.id,
    connectionId: row.connection_id,
    deliveryId: row.delivery_id,
    event: row.event,
    bytes: row.bytes,
    receivedAt: row.received_at.toISOString(),
    state: row.state,
    reason: row.reason === null ? null : { code: row.reason, text: DELIVERY_REASONS[row.reason], detail: row.detail },
    semanticKey: row.semantic_key,
    conversationId: row.conversation_id,
    recoveredAt: row.recovered_at?.toISOString() ?? null,
    attempts: row.attempts,
    decidedAt: row.decided_at?.toISOString() ?? null,
  };
}
