import { Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import type { Attachment, AttachmentList } from '@slipway/contracts/conversations';
import type { Principal } from '@slipway/contracts/organizations';
import { readAttachment } from '@slipway/db/conversations';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import { attachmentName, type Ids } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import type { Config } from '../../config.js';
import { CONFIG, IDS, SQL_POOL } from '../../platform/tokens.js';
import { assertStorage, fullStorage } from '../../sandboxes/storage/full-storage.js';
import { lockSandbox } from '../conversations.queries.js';
import { AttachmentBodies, maxAttachmentBytes } from './attachment-body.js';
import { attachmentType } from './attachment-type.js';
import {
  deleteAttachment,
  deletePending,
  findAttachment,
  hasPendingRoom,
  hasRoom,
  insertAttachment,
  listAttachments,
  toAttachment,
} from './attachments.queries.js';

/** A body that is still to be read, with what its head says of it. */
export interface Upload {
  readonly name: string;
  readonly body: unknown;
  /** Its `content-length`. */
  readonly length: string | undefined;
  /** That an Idempotency-Key reserves. */
  readonly reservedId: string | undefined;
}

/** Files for messages: kept in the database beside their conversation, and counted for its storage. */
@Injectable()
export class AttachmentsService {
  private readonly bodies = new AttachmentBodies();

  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /**
   * The same reserved id again is the same file. @param conversationId `null`: it waits for a conversation.
   * @throws SlipwayError `resource.not-found`, `attachment.limit`, `storage.exhausted`; of its body as
   * `AttachmentBodies.read`.
   */
  async upload(caller: Principal, conversationId: string | null, { name, ...upload }: Upload): Promise<Attachment> {
    const id = upload.reservedId ?? this.ids.uuid();
    // Before a byte is read of what would be refused.
    const known = await inOrg(this.pool, caller.orgId, async (client) => {
      if (conversationId !== null && !(await isThere(client, caller.orgId, conversationId))) throw notFound();
      await assertStorage(client, caller.orgId);
      return findAttachment(client, caller.orgId, id);
    });
    if (known !== null) return toAttachment(known);
    const maxBytes = maxAttachmentBytes(this.config.ATTACHMENT_MAX_MB);
    return this.bodies.read(caller.orgId, upload.body, { length: upload.length, maxBytes }, async (content) => {
      const mediaType = await attachmentType(content);
      return inOrg(this.pool, caller.orgId, async (client) => {
        await assertRoom(client, caller, conversationId, content.length);
        const made = { id, name: attachmentName(name), mediaType, content };
        return toAttachment(await insertAttachment(client, caller, conversationId, made));
      }).catch((error: unknown) => Promise.reject(fullStorage(error) ?? error));
    });
  }

  /** @throws SlipwayError `resource.not-found` */
  async list(caller: Principal, conversationId: string): Promise<AttachmentList> {
    const rows = await inOrg(this.pool, caller.orgId, async (client) => {
      if (!(await isThere(client, caller.orgId, conversationId))) throw notFound();
      return listAttachments(client, caller.orgId, conversationId, caller.actor.id);
    });
    return { data: rows.map(toAttachment) };
  }

  /** @throws SlipwayError `resource.not-found`, also for what another user has not sent yet. */
  async download(
    caller: Principal,
    conversationId: string,
    id: string,
  ): Promise<{ file: Attachment; content: Readable }> {
    const row = await inOrg(this.pool, caller.orgId, async (client) =>
      (await isThere(client, caller.orgId, conversationId)) ? findAttachment(client, caller.orgId, id) : null,
    );
    const isSeen = row !== null && (row.messageId !== null || row.createdBy === caller.actor.id);
    if (!isSeen || row.conversationId !== conversationId) throw notFound();
    return {
      file: toAttachment(row),
      content: Readable.from(readAttachment(this.pool, caller.orgId, row), { objectMode: false }),
    };
  }

  /** @throws SlipwayError `resource.not-found`, also for what is another user's; `attachment.sent`. */
  async remove(caller: Principal, conversationId: string, id: string): Promise<void> {
    await inOrg(this.pool, caller.orgId, async (client) => {
      if ((await lockSandbox(client, caller.orgId, conversationId)) === null) throw notFound();
      const row = await findAttachment(client, caller.orgId, id);
      if (row === null || row.conversationId !== conversationId || row.createdBy !== caller.actor.id) throw notFound();
      if (row.messageId !== null) throw new SlipwayError('attachment.sent', 'The file was sent with a message.');
      await deleteAttachment(client, caller.orgId, row);
    });
  }

  /** Of one that waits for a conversation. @throws SlipwayError `resource.not-found`, also when it was sent. */
  async removePending(caller: Principal, id: string): Promise<void> {
    if (!(await inOrg(this.pool, caller.orgId, (client) => deletePending(client, caller, id)))) throw notFound();
  }
}

/** Holds what the limits are of until the transaction ends. @throws SlipwayError as `upload`. */
async function assertRoom(
  client: PoolClient,
  caller: Principal,
  conversationId: string | null,
  bytes: number,
): Promise<void> {
  if (conversationId === null) {
    if (!(await hasPendingRoom(client, caller, bytes)))
      throw new SlipwayError('attachment.limit', 'As many files as may be wait to be sent with a task.');
    return;
  }
  if ((await lockSandbox(client, caller.orgId, conversationId)) === null) throw notFound();
  if (!(await hasRoom(client, caller.orgId, conversationId, bytes)))
    throw new SlipwayError('attachment.limit', 'This conversation holds as many files as it may.');
}

async function isThere(client: PoolClient, orgId: string, id: string): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'conversation-of-attachment',
    text: 'SELECT 1 FROM app.conversation WHERE org_id = $1 AND id = $2',
    values: [orgId, id],
  });
  return rowCount === 1;
}
