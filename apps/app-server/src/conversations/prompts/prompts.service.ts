import { Inject, Injectable } from '@nestjs/common';
import {
  type CreatePrompt,
  type ListPromptsQuery,
  MAX_ORG_PROMPTS,
  MAX_USER_PROMPTS,
  type Prompt,
  type PromptPage,
  type UpdatePrompt,
} from '@slipway/contracts/conversations';
import type { Principal } from '@slipway/contracts/organizations';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { Ids } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import { auditOf } from '../../audit/audit-statement.js';
import { IDS, SQL_POOL } from '../../platform/tokens.js';
import { readPromptCursor, writePromptCursor } from './prompt-cursor.js';
import {
  countPrompts,
  deletePrompt,
  insertPrompt,
  listPrompts,
  lockPrompt,
  OF_ORG,
  type Owners,
  type PromptRow,
  updatePrompt,
} from './prompts.queries.js';

/**
 * Saved prompts. A user's own are for this user alone: no admin sees or deletes them. Each change of the organization's
 * is in the audit, without the text.
 */
@Injectable()
export class PromptsService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  async page(caller: Principal, { scope, search = '', cursor, limit }: ListPromptsQuery): Promise<PromptPage> {
    const owners = scope === undefined ? seenBy(caller) : [scope === 'org' ? OF_ORG : caller.actor.id];
    const after = cursor === undefined ? null : readPromptCursor(cursor);
    const rows = await inOrg(this.pool, caller.orgId, (client) =>
      listPrompts(client, caller.orgId, { owners, search: search.trim() }, { after, limit: limit + 1 }),
    );
    const data = rows.slice(0, limit);
    const last = data.at(-1);
    return {
      data: data.map(toPrompt),
      page: { nextCursor: rows.length > limit && last !== undefined ? writePromptCursor(last) : null },
    };
  }

  /** @throws SlipwayError `prompt.name-taken`, `prompt.too-many`, `permission.denied` */
  async create(caller: Principal, { scope, ...values }: CreatePrompt): Promise<Prompt> {
    const owner = scope === 'org' ? OF_ORG : caller.actor.id;
    assertMayWrite(caller, owner);
    const limit = scope === 'org' ? MAX_ORG_PROMPTS : MAX_USER_PROMPTS;
    return inOrg(this.pool, caller.orgId, async (client) => {
      // Two at the same moment may both find the last place: the limit is there to bound, not to count.
      if ((await countPrompts(client, caller.orgId, owner)) >= limit)
        throw new SlipwayError('prompt.too-many', `There are ${limit} prompts already.`);
      const row = await insertPrompt(
        client,
        caller.orgId,
        { id: this.ids.prefixed('prm'), owner, ...values },
        caller.actor,
      );
      if (row === null) throw nameTaken(values.name);
      if (scope === 'org')
        await client.query(
          auditOf(this.ids.uuid(), caller, { action: 'prompt.create', target: row.id, after: inWords(row) }),
        );
      return toPrompt(row);
    });
  }

  /** @throws SlipwayError `resource.not-found`, `prompt.name-taken`, `permission.denied` */
  async update(caller: Principal, id: string, change: UpdatePrompt): Promise<Prompt> {
    return inOrg(this.pool, caller.orgId, async (client) => {
      const before = await lockPrompt(client, caller.orgId, seenBy(caller), id);
      if (before === null) throw notFound();
      assertMayWrite(caller, before.user_id);
      const { name = before.name, description = before.description, text = before.text } = change;
      const after = await updatePrompt(client, caller.orgId, { id, name, description, text }, caller.actor);
      if (after === null) throw nameTaken(name);
      const changed = (['name', 'description'] as const).filter((field) => before[field] !== after[field]);
      if (before.user_id === OF_ORG)
        await client.query(
          auditOf(this.ids.uuid(), caller, {
            action: 'prompt.update',
            target: id,
            detail: { name: before.name, newText: before.text !== after.text },
            before: Object.fromEntries(changed.map((field) => [field, before[field]])),
            after: Object.fromEntries(changed.map((field) => [field, after[field]])),
          }),
        );
      return toPrompt(after);
    }).catch((error: unknown) => {
      throw isTakenName(error) ? nameTaken(change.name ?? '') : error;
    });
  }

  /** @throws SlipwayError `resource.not-found`, `permission.denied` */
  async delete(caller: Principal, id: string): Promise<void> {
    await inOrg(this.pool, caller.orgId, async (client) => {
      const row = await lockPrompt(client, caller.orgId, seenBy(caller), id);
      if (row === null) throw notFound();
      assertMayWrite(caller, row.user_id);
      await deletePrompt(client, caller.orgId, id);
      if (row.user_id === OF_ORG)
        await client.query(
          auditOf(this.ids.uuid(), caller, { action: 'prompt.delete', target: id, before: inWords(row) }),
        );
    });
  }
}

const seenBy = (caller: Principal): Owners => [OF_ORG, caller.actor.id];

/** A service account has none of its own: no one would see them, or delete them with it. */
function assertMayWrite(caller: Principal, owner: string): void {
  if (owner === OF_ORG && !caller.permissions.has('prompt:manage'))
    throw new SlipwayError('permission.denied', 'Prompts of the organization need the permission prompt:manage.');
  if (owner !== OF_ORG && caller.actor.kind !== 'user')
    throw new SlipwayError('permission.denied', 'Only users have prompts of their own.');
}

const nameTaken = (name: string): SlipwayError =>
  new SlipwayError('prompt.name-taken', `There is a prompt ${name} already.`, {
    fields: [{ path: 'name', message: 'is taken' }],
  });

/** Another request took the name after this one had looked. */
const isTakenName = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === '23505';

const inWords = ({ name, description }: PromptRow): Record<string, unknown> => ({ name, description });

function toPrompt(row: PromptRow): Prompt {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    text: row.text,
    scope: row.user_id === OF_ORG ? 'org' : 'user',
    createdBy: { id: row.created_by, label: row.created_by_label },
    createdAt: row.created_at.toISOString(),
    updatedBy: { id: row.updated_by, label: row.updated_by_label },
    updatedAt: row.updated_at.toISOString(),
  };
}
