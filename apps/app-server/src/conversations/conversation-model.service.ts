import { Inject, Injectable } from '@nestjs/common';
import type { StateUpdate } from '@slipway/contracts/events';
import type { ConversationQueue } from '@slipway/contracts/operate';
import type { Principal } from '@slipway/contracts/organizations';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { Clock, Ids } from '@slipway/domain';
import { notFound } from '@slipway/errors';
import { auditOf } from '../audit/audit-statement.js';
import { ModelsService } from '../identity/me/models.service.js';
import { IngestService } from '../log/ingest/ingest.service.js';
import { Jobs } from '../platform/jobs.js';
import { wantJob } from '../platform/outbox.queries.js';
import { CLOCK, IDS, SQL_POOL } from '../platform/tokens.js';
import { modelOf, setModel } from './conversation-model.queries.js';
import { lockSandbox, readSandbox, type SandboxRow } from './conversations.queries.js';

/**
 * Another model for a conversation. It is stored and said in the log here; worker, which holds the way to keys, gives
 * it to a sandbox that has the conversation.
 */
@Injectable()
export class ConversationModelService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly ingest: IngestService,
    private readonly jobs: Jobs,
    private readonly models: ModelsService,
  ) {}

  /**
   * The one that it has already changes nothing. @throws SlipwayError `resource.not-found`, `model.unknown`,
   * `service.unavailable` when no model list can be had.
   */
  async set(caller: Principal, id: string, wanted: string): Promise<void> {
    if ((await readSandbox(this.pool, caller.orgId, id)) === null) throw notFound();
    const model = await this.models.choose(caller.orgId, wanted, null);
    const after = await inOrg(this.pool, caller.orgId, async (client) => {
      const row = await lockSandbox(client, caller.orgId, id);
      const before = await modelOf(client, caller.orgId, id);
      if (row === null || before === null) throw notFound();
      if (before === model) return null;
      const said = { id: this.ids.uuid(), timestamp: this.clock.now().toISOString(), source: 'environment' as const };
      const update: StateUpdate = { key: 'model', value: model };
      const publish = await this.ingest.appendPlatform(client, caller.orgId, id, {
        events: [{ ...said, kind: 'ConversationStateUpdateEvent', ...update }],
        row,
      });
      await setModel(client, caller.orgId, id, model);
      const job = jobFor(row);
      if (job !== null) await wantJob(client, caller.orgId, job, id);
      await client.query(
        auditOf(this.ids.uuid(), caller, {
          action: 'conversation.set-model',
          target: id,
          before: { model: before },
          after: { model },
        }),
      );
      return { publish, job };
    });
    if (after === null) return;
    after.publish();
    if (after.job !== null) this.jobs.enqueue(after.job, caller.orgId, id);
  }
}

/** The job that brings a change of settings to an agent; `null` for an idle one: it is not woken for that. */
export function jobFor(row: SandboxRow): ConversationQueue | null {
  if (row.desired !== 'run') return null;
  if (row.statusState.start === 'running') return 'conversation-start';
  return row.statusState.start === 'ready' && row.sandboxStatus === 'RUNNING' ? 'conversation-deliver' : null;
}
