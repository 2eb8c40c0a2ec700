import { Inject, Injectable } from '@nestjs/common';
import type { SandboxInfo, SandboxPage, SearchSandboxesQuery } from '@slipway/contracts/openhands';
import type { Principal } from '@slipway/contracts/organizations';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { Ids } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import { auditOf } from '../../audit/audit-statement.js';
import { ConversationsService } from '../../conversations/conversations.service.js';
import { RunControlService } from '../../conversations/run-control.service.js';
import type { WatchedCredential } from '../../log/events/access-watch.js';
import { IDS, SQL_POOL } from '../../platform/tokens.js';
import { SandboxAccessService } from '../../sandboxes/access/sandbox-access.service.js';
import { type SandboxRow, sandboxesOf, sandboxesStartedBy, statusOf } from './openhands-sandboxes.queries.js';

/** What an installation starts when nothing is asked for, in OpenHands' word for it. */
const SPEC = 'default';

/** Conversations seen as sandboxes: a client that brings its own agent starts one, enters it, and gives it back. */
@Injectable()
export class OpenHandsSandboxesService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    private readonly conversations: ConversationsService,
    private readonly runs: RunControlService,
    private readonly access: SandboxAccessService,
  ) {}

  /**
   * Without a key, also when it was started before: this answer is kept for a repeated request, and a kept key would be
   * one on the disk. @throws SlipwayError as a start of a conversation.
   */
  async start(caller: Principal, reservedId: string | undefined): Promise<SandboxInfo> {
    const { id } = await this.conversations.createWithoutTask(caller, `Sandbox of ${caller.actor.label}`, reservedId);
    const [made] = await inOrg(this.pool, caller.orgId, (client) => sandboxesOf(client, caller.orgId, [id]));
    if (made === undefined) throw notFound();
    return infoOf(made, null);
  }

  /** In the order of `ids`; `null` for what there is not. */
  async get(caller: Principal, proof: WatchedCredential, ids: readonly string[]): Promise<Array<SandboxInfo | null>> {
    const wanted = ids.map((id) => id.toLowerCase());
    const rows = await inOrg(this.pool, caller.orgId, (client) => sandboxesOf(client, caller.orgId, wanted));
    // Each once, however often it is named: an answer may grant access.
    const found = new Map(
      await Promise.all(rows.map(async (row) => [row.id, await this.info(caller, proof, row)] as const)),
    );
    return wanted.map((id) => found.get(id) ?? null);
  }

  /** Gives no access, however many there are: the key of one is asked for by its id. */
  async search(caller: Principal, { page_id, limit }: SearchSandboxesQuery): Promise<SandboxPage> {
    const rows = await inOrg(this.pool, caller.orgId, (client) =>
      sandboxesStartedBy(client, caller.orgId, { userId: caller.actor.id, from: page_id ?? null, limit: limit + 1 }),
    );
    return {
      items: rows.slice(0, limit).map((row) => ({ ...infoOf(row, null), session_api_key: null, exposed_urls: null })),
      next_page_id: rows[limit]?.id ?? null,
    };
  }

  /** @throws SlipwayError `resource.not-found` */
  pause(caller: Principal, id: string): Promise<void> {
    return this.runs.pause(caller, id);
  }

  /** One that runs stays as it is. @throws SlipwayError `resource.not-found` */
  async resume(caller: Principal, id: string): Promise<void> {
    const [row] = await inOrg(this.pool, caller.orgId, (client) => sandboxesOf(client, caller.orgId, [id]));
    if (row === undefined) throw notFound();
    if (statusOf(row) === 'PAUSED' || statusOf(row) === 'ERROR') await this.runs.resume(caller, id);
  }

  /**
   * A conversation may be paused with write access; this also disconnects everyone in its sandbox, so it needs that
   * permission, and for another user's the permission to end any sandbox (`sandboxes.stop`). Nothing is done before all
   * of it is clear.
   * @throws SlipwayError `resource.not-found`, `permission.denied`
   */
  async delete(caller: Principal, id: string): Promise<void> {
    const [row] = await inOrg(this.pool, caller.orgId, (client) => sandboxesOf(client, caller.orgId, [id]));
    if (row === undefined) throw notFound();
    const foreign = row.created_by !== caller.actor.id;
    for (const needed of ['sandbox:access', ...(foreign ? (['sandbox:stop'] as const) : [])] as const)
      if (!caller.permissions.has(needed))
        throw new SlipwayError(
          'permission.denied',
          `To end a sandbox${foreign ? ' of another user' : ''} needs the permission ${needed}.`,
        );
    if (foreign)
      await inOrg(this.pool, caller.orgId, (client) =>
        client.query(
          auditOf(this.ids.uuid(), caller, {
            action: 'sandbox.stop',
            target: row.id,
            detail: { owner: row.created_by },
          }),
        ),
      );
    await this.runs.pause(caller, id);
    if (this.access.isOffered) await this.access.revoke(caller, id, null);
  }

  private async info(caller: Principal, proof: WatchedCredential, row: SandboxRow): Promise<SandboxInfo> {
    const mayEnter = statusOf(row) === 'RUNNING' && this.access.isOffered && caller.permissions.has('sandbox:access');
    return infoOf(row, mayEnter ? await this.access.session(caller, proof, row.id) : null);
  }
}

function infoOf(
  row: SandboxRow,
  session: { readonly url: string; readonly port: number; readonly token: string } | null,
): SandboxInfo {
  return {
    id: row.id,
    created_by_user_id: row.created_by,
    sandbox_spec_id: SPEC,
    status: statusOf(row),
    session_api_key: session?.token ?? null,
    exposed_urls: session === null ? null : [{ name: 'AGENT_SERVER', url: session.url, port: session.port }],
    created_at: row.created_at.toISOString(),
    status_detail: null,
  };
}
