import { Inject, Injectable } from '@nestjs/common';
import { type EditConversation, MAX_TAGS } from '@slipway/contracts/conversations';
import type { ConversationEvent } from '@slipway/contracts/events';
import type { Principal } from '@slipway/contracts/organizations';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import type { Clock, Ids } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import { auditOf } from '../../audit/audit-statement.js';
import { Hubs } from '../../log/events/hubs.js';
import { IngestService } from '../../log/ingest/ingest.service.js';
import { CLOCK, IDS, SQL_POOL } from '../../platform/tokens.js';
import { fullStorage } from '../../sandboxes/storage/full-storage.js';
import { lockSandbox } from '../conversations.queries.js';
import { type EditableRow, lockEditable, setEdits, setPin } from './edits.queries.js';

type Edits = Omit<EditConversation, 'tags'> & {
  /** From the tags that it has to those that it is to have. */
  readonly tags?: ((before: readonly string[]) => readonly string[]) | undefined;
};

/** Title, tags, archive and the caller's pin. A title is an event of the log, so that open screens have it at once. */
@Injectable()
export class ConversationEdits {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly ingest: IngestService,
    private readonly hubs: Hubs,
  ) {}

  /** @throws SlipwayError `resource.not-found`, `storage.exhausted` for a title, `request.invalid` for too many tags */
  async edit(caller: Principal, id: string, edits: Edits): Promise<void> {
    const { orgId, actor } = caller;
    const publish = await inOrg(this.pool, orgId, async (client) => {
      const before = await lockEditable(client, orgId, id);
      if (before === null) throw notFound();
      if (edits.pinned !== undefined) await setPin(client, orgId, id, { userId: actor.id, pinned: edits.pinned });
      const tags = edits.tags?.(before.tags);
      if (tags !== undefined && tags.length > MAX_TAGS) throw tooManyTags();
      if (tags !== undefined || edits.archived !== undefined)
        await setEdits(client, orgId, id, { tags, archived: edits.archived });
      if (edits.archived !== undefined && edits.archived !== before.archived)
        await client.query(
          auditOf(this.ids.uuid(), caller, {
            action: edits.archived ? 'conversation.archive' : 'conversation.unarchive',
            target: id,
          }),
        );
      return edits.title === undefined || edits.title === before.title
        ? null
        : this.rename(client, caller, id, { before, title: edits.title });
    }).catch((error: unknown) => Promise.reject(fullStorage(error) ?? error));
    publish?.();
    this.hubs.inboxChanged(orgId, id);
  }

  private async rename(
    client: PoolClient,
    caller: Principal,
    id: string,
    { before, title }: { readonly before: EditableRow; readonly title: string },
  ): Promise<() => void> {
    const row = await lockSandbox(client, caller.orgId, id);
    if (row === null) throw notFound();
    const event: ConversationEvent = {
      id: this.ids.uuid(),
      timestamp: this.clock.now().toISOString(),
      source: 'environment',
      kind: 'ConversationStateUpdateEvent',
      key: 'title',
      value: title,
    };
    await setEdits(client, caller.orgId, id, { title });
    const publish = await this.ingest.appendPlatform(client, caller.orgId, id, { events: [event], row });
    await client.query(
      auditOf(this.ids.uuid(), caller, {
        action: 'conversation.rename',
        target: id,
        before: { title: before.title },
        after: { title },
      }),
    );
    return publish;
  }
}

function tooManyTags(): SlipwayError {
  return new SlipwayError('request.invalid', `A conversation has at most ${MAX_TAGS} tags.`, {
    fields: [{ path: 'add', message: `makes more than ${MAX_TAGS} tags` }],
  });
}
