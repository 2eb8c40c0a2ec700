import { Inject, Injectable } from '@nestjs/common';
import type { ListWebhookMessagesQuery, WebhookMessage, WebhookMessagePage } from '@slipway/contracts/integrations';
import type { Principal } from '@slipway/contracts/organizations';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import type { Clock, Ids } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import { z } from 'zod';
import { auditOf } from '../../audit/audit-statement.js';
import { readPageCursor, writePageCursor } from '../../http/page-cursor.js';
import { Jobs } from '../../platform/jobs.js';
import { wantJobAs } from '../../platform/outbox.queries.js';
import { CLOCK, IDS, SQL_POOL } from '../../platform/tokens.js';
import {
  findWebhook,
  insertMessage,
  listMessages,
  type MessageRow,
  reopenMessage,
} from './outgoing-webhooks.queries.js';

const TEST_EVENT = 'webhook.test';

/** The log of what a webhook was sent: listed, sent again, and tried by hand. */
@Injectable()
export class WebhookMessagesService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly jobs: Jobs,
  ) {}

  /** @throws SlipwayError `resource.not-found` when there is no such webhook. */
  async page({ orgId }: Principal, webhookId: string, query: ListWebhookMessagesQuery): Promise<WebhookMessagePage> {
    const after = query.cursor === undefined ? null : readCursor(query.cursor);
    const rows = await inOrg(this.pool, orgId, async (client) => {
      if ((await findWebhook(client, orgId, webhookId)) === null) throw notFound();
      return listMessages(client, orgId, webhookId, { state: query.state ?? null, after, limit: query.limit + 1 });
    });
    const data = rows.slice(0, query.limit).map(toMessage);
    const last = data.at(-1);
    return { data, page: { nextCursor: rows.length > query.limit && last !== undefined ? writeCursor(last) : null } };
  }

  /** @throws SlipwayError `resource.not-found`; `webhook.not-active`. */
  test(caller: Principal, webhookId: string): Promise<WebhookMessage> {
    const id = `msg_${this.ids.uuid().replaceAll('-', '')}`;
    const body = JSON.stringify({
      type: TEST_EVENT,
      timestamp: this.clock.now().toISOString(),
      data: { organizationId: caller.orgId, webhookId },
    });
    return this.send(caller, webhookId, 'webhook.test', (client) =>
      insertMessage(client, caller.orgId, { id, webhookId, event: TEST_EVENT, body }),
    );
  }

  /** @throws SlipwayError `resource.not-found`; `webhook.not-active`. */
  resend(caller: Principal, webhookId: string, id: string): Promise<WebhookMessage> {
    return this.send(caller, webhookId, 'webhook.resend', (client) =>
      reopenMessage(client, caller.orgId, webhookId, id),
    );
  }

  private async send(
    caller: Principal,
    webhookId: string,
    action: string,
    message: (client: PoolClient) => Promise<MessageRow | null>,
  ): Promise<WebhookMessage> {
    const { orgId } = caller;
    const row = await inOrg(this.pool, orgId, async (client) => {
      const webhook = await findWebhook(client, orgId, webhookId);
      if (webhook === null) throw notFound();
      if (webhook.state !== 'active') throw new SlipwayError('webhook.not-active', `The webhook is ${webhook.state}.`);
      const made = await message(client);
      if (made === null) throw notFound();
      await wantJobAs(client, 'webhook-message', made.id, { orgId, messageId: made.id });
      await client.query(auditOf(this.ids.uuid(), caller, { action, target: webhookId, detail: { message: made.id } }));
      return made;
    });
    this.jobs.enqueueAs('webhook-message', row.id, { orgId, messageId: row.id });
    return toMessage(row);
  }
}

function toMessage(row: MessageRow): WebhookMessage {
  return {
    id: row.id,
    event: row.event,
    conversationId: row.conversation_id,
    body: row.body,
    state: row.state,
    attempts: row.attempts,
    nextTryAt: row.state === 'waiting' ? row.next_at.toISOString() : null,
    lastTryAt: row.last_at?.toISOString() ?? null,
    lastStatus: row.last_status,
    lastAnswer: row.last_answer,
    problem: row.problem,
    createdAt: row.created_at.toISOString(),
  };
}

const Cursor = z.tuple([z.iso.datetime(), z.string().max(100)]);

/** Where a page of the log ended: by time and then id. */
function writeCursor({ createdAt, id }: WebhookMessage): string {
  return writePageCursor([createdAt, id]);
}

/** @throws SlipwayError `request.invalid` for a cursor that this server did not write. */
function readCursor(cursor: string): { createdAt: Date; id: string } {
  const [createdAt, id] = readPageCursor(Cursor, cursor);
  return { createdAt: new Date(createdAt), id };
}
