import { randomBytes, randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Envelope, outgoingWebhookContext } from '@slipway/auth/envelope';
import {
  type CreateOutgoingWebhook,
  MAX_WEBHOOKS,
  OLD_SECRET_HOURS,
  type OutgoingWebhook,
  type OutgoingWebhookList,
  type OutgoingWebhookWithSecret,
  type UpdateOutgoingWebhook,
} from '@slipway/contracts/integrations';
import { type Principal } from '@slipway/contracts/organizations';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { Ids } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import { assertOutside } from '@slipway/outside';
import { auditOf } from '../../audit/audit-statement.js';
import type { Config } from '../../config.js';
import { CONFIG, IDS, SQL_POOL } from '../../platform/tokens.js';
import {
  countWebhooks,
  deleteWebhook,
  findWebhook,
  insertWebhook,
  insertWebhookSecret,
  listWebhooks,
  lockWebhook,
  outdateWebhookSecrets,
  updateWebhook,
  type WebhookRow,
} from './outgoing-webhooks.queries.js';

/** Of a signing secret: 256 bits. Bytes. */
const SECRET_BYTES = 32;

/**
 * Webhooks of an organization: made, changed and deleted by its admins, each change in the audit. A signing secret is
 * in one answer and nowhere else.
 */
@Injectable()
export class OutgoingWebhooksService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CONFIG) private readonly config: Config,
    private readonly envelope: Envelope,
  ) {}

  async list({ orgId }: Principal): Promise<OutgoingWebhookList> {
    const rows = await inOrg(this.pool, orgId, (client) => listWebhooks(client, orgId, MAX_WEBHOOKS));
    return { data: rows.map(toWebhook) };
  }

  /** @throws SlipwayError `resource.not-found` */
  async get({ orgId }: Principal, id: string): Promise<OutgoingWebhook> {
    return toWebhook(found(await inOrg(this.pool, orgId, (client) => findWebhook(client, orgId, id))));
  }

  /** @throws SlipwayError `webhook.too-many`; `settings.url-refused`. */
  async create(caller: Principal, { name, url, events }: CreateOutgoingWebhook): Promise<OutgoingWebhookWithSecret> {
    await this.assertCallable(url);
    const id = randomUUID();
    const secret = await this.newSecret(caller.orgId, id);
    const row = await inOrg(this.pool, caller.orgId, async (client) => {
      // Two at the same moment may both find the last place: the limit is there to bound, not to count.
      if ((await countWebhooks(client, caller.orgId)) >= MAX_WEBHOOKS)
        throw new SlipwayError('webhook.too-many', `There are ${MAX_WEBHOOKS} webhooks already.`);
      await insertWebhook(client, caller.orgId, { id, name, url, events, by: caller.actor });
      await insertWebhookSecret(client, caller.orgId, secret);
      await client.query(
        auditOf(this.ids.uuid(), caller, { action: 'webhook.create', target: id, detail: { name, url, events } }),
      );
      return findWebhook(client, caller.orgId, id);
    });
    return { webhook: toWebhook(found(row)), signingSecret: secret.text };
  }

  /** @throws SlipwayError `resource.not-found`; `settings.url-refused`. */
  async update(caller: Principal, id: string, change: UpdateOutgoingWebhook): Promise<OutgoingWebhook> {
    if (change.url !== undefined) await this.assertCallable(change.url);
    const row = await inOrg(this.pool, caller.orgId, async (client) => {
      const before = found(await lockWebhook(client, caller.orgId, id));
      const enabled = change.disabled === false && before.state !== 'active';
      const next = {
        name: change.name ?? before.name,
        url: change.url ?? before.url,
        events: change.events ?? before.events,
        state:
          change.disabled === true
            ? ('disabled' as const)
            : change.disabled === false
              ? ('active' as const)
              : before.state,
        state_reason: change.disabled === undefined ? before.state_reason : null,
        failing_since: enabled ? null : before.failing_since,
      };
      await updateWebhook(client, caller.orgId, id, next);
      const shown = ({ name, url, events, state }: typeof next) => ({ name, url, events, state });
      await client.query(
        auditOf(this.ids.uuid(), caller, {
          action: 'webhook.update',
          target: id,
          detail: { name: next.name },
          before: shown(before),
          after: shown(next),
        }),
      );
      return findWebhook(client, caller.orgId, id);
    });
    return toWebhook(found(row));
  }

  /** @throws SlipwayError `resource.not-found` */
  async delete(caller: Principal, id: string): Promise<void> {
    await inOrg(this.pool, caller.orgId, async (client) => {
      const { name, url } = found(await lockWebhook(client, caller.orgId, id));
      await deleteWebhook(client, caller.orgId, id);
      await client.query(
        auditOf(this.ids.uuid(), caller, { action: 'webhook.delete', target: id, detail: { name, url } }),
      );
    });
  }

  /**
   * Messages are signed with the secret before, too, for another day: receivers are changed at leisure. @throws
   * SlipwayError `resource.not-found`
   */
  async rotateSecret(caller: Principal, id: string): Promise<OutgoingWebhookWithSecret> {
    const secret = await this.newSecret(caller.orgId, id);
    const row = await inOrg(this.pool, caller.orgId, async (client) => {
      const { name } = found(await lockWebhook(client, caller.orgId, id));
      await outdateWebhookSecrets(client, caller.orgId, id, OLD_SECRET_HOURS);
      await insertWebhookSecret(client, caller.orgId, secret);
      await client.query(
        auditOf(this.ids.uuid(), caller, { action: 'webhook.rotate-secret', target: id, detail: { name } }),
      );
      return findWebhook(client, caller.orgId, id);
    });
    return { webhook: toWebhook(found(row)), signingSecret: secret.text };
  }

  /** The worker checks the address it connects to again. */
  private assertCallable(url: string): Promise<void> {
    return assertOutside(url, this.config.INTEGRATION_PRIVATE_HOSTS.includes(new URL(url).host));
  }

  private async newSecret(orgId: string, webhookId: string) {
    const text = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
    const id = this.ids.uuid();
    return {
      id,
      webhookId,
      text,
      sealed: await this.envelope.seal(orgId, text, outgoingWebhookContext({ id, webhookId })),
    };
  }
}

function found(row: WebhookRow | null): WebhookRow {
  if (row === null) throw notFound();
  return row;
}

function toWebhook(row: WebhookRow): OutgoingWebhook {
  return {
    id: row.id,
    name: row.name,
    url: row.url,
    events: row.events,
    state: row.state,
    stateReason: row.state_reason,
    oldSecretUntil: row.old_secret_until?.toISOString() ?? null,
    failingSince: row.failing_since?.toISOString() ?? null,
    createdBy: { id: row.created_by, label: row.created_by_label },
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}
