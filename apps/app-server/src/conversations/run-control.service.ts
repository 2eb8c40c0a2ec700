import { Inject, Injectable } from '@nestjs/common';
import { letRun } from '@slipway/agent-client';
import { SandboxKeys } from '@slipway/auth/caller-keys';
import type { ConversationEvent, StateUpdate } from '@slipway/contracts/events';
import type { ConversationQueue } from '@slipway/contracts/operate';
import type { Principal } from '@slipway/contracts/organizations';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import type { Clock, Ids } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import { auditOf } from '../audit/audit-statement.js';
import { IngestService } from '../log/ingest/ingest.service.js';
import { Jobs } from '../platform/jobs.js';
import { wantJob } from '../platform/outbox.queries.js';
import { CLOCK, IDS, LOGGER, SQL_POOL } from '../platform/tokens.js';
import { assertStorage } from '../sandboxes/storage/full-storage.js';
import { lockSandbox, readSandbox, type SandboxRow, setDesired, setHaltedBy } from './conversations.queries.js';
import { reachSandbox } from './reach-sandbox.js';

/**
 * Stop, pause and resume.
 *
 * A stop goes straight to the sandbox, because it must hold within a second. One that does not answer is shut out,
 * whatever the log says of it (it may work on a message that the log does not have yet): the epoch moves on, so that it
 * may write no more; the log says `InterruptEvent`; and it is given back by a job. While there is none yet, the log
 * says the same and the start finds that it is not wanted.
 */
@Injectable()
export class RunControlService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly keys: SandboxKeys,
    private readonly ingest: IngestService,
    private readonly jobs: Jobs,
  ) {}

  async stop(caller: Principal, id: string): Promise<void> {
    const row = await readSandbox(this.pool, caller.orgId, id);
    if (row === null) throw notFound();
    // Also one about to be paused: a pause waits for the step under way, a stop does not.
    const sandbox = reachSandbox(this.keys, id, row, ['run', 'rest']);
    if (sandbox !== null) {
      try {
        await sandbox.call('interrupt', { id });
        await inOrg(this.pool, caller.orgId, async (client) => {
          await setHaltedBy(client, caller.orgId, id, caller.actor.label);
          await this.audit(client, caller, 'conversation.stop', id);
        });
        return;
      } catch (error) {
        this.logger.warn(
          { err: error, conversation_id: id },
          'sandbox did not take the stop, its epoch is ended instead',
        );
      }
    }
    await this.change(caller, id, 'conversation.stop', (current) => {
      const works =
        current.desired === 'run' &&
        (sandbox !== null || current.statusState.start === 'running' || current.statusState.execution === 'running');
      // A halted run ends here: it is not expected to continue.
      if (
        !works &&
        !(
          current.statusState.start === 'ready' &&
          current.statusState.execution === 'paused' &&
          current.statusState.halt === 'pause'
        )
      )
        return null;
      return {
        desired: 'rest',
        writer: works && current.statusState.start !== 'running' ? 'fence' : 'keep',
        job: 'conversation-pause',
        events: [this.event({ kind: 'InterruptEvent' }), ...this.halted(current)],
      };
    });
  }

  /**
   * What the log says of a run that its conversation's end breaks off, in the transaction of that end. The caller
   * fences its sandbox. @returns what to call after the commit.
   */
  async end(client: PoolClient, caller: Principal, id: string): Promise<() => void> {
    const row = await lockSandbox(client, caller.orgId, id);
    if (row === null) throw notFound();
    const halted = this.halted(row);
    const events =
      halted.length > 0 || row.statusState.start === 'running'
        ? [this.event({ kind: 'InterruptEvent' }), ...halted]
        : [];
    return events.length === 0 ? () => {} : this.ingest.appendPlatform(client, caller.orgId, id, { events, row });
  }

  async pause(caller: Principal, id: string): Promise<void> {
    await this.change(caller, id, 'conversation.pause', (current) =>
      current.desired === 'run' || current.sandboxStatus === 'RUNNING'
        ? // With a sandbox, agent-server itself says when the run has halted.
          {
            desired: 'rest',
            writer: 'keep',
            job: 'conversation-pause',
            events: current.statusState.start === 'running' ? [this.event({ kind: 'PauseEvent' })] : [],
          }
        : null,
    );
  }

  /** @throws SlipwayError `storage.exhausted`, `conversation.awaits-confirmation`, `resource.not-found`. */
  async resume(caller: Principal, id: string): Promise<void> {
    const row = await readSandbox(this.pool, caller.orgId, id);
    if (row === null) throw notFound();
    await inOrg(this.pool, caller.orgId, (client) => assertStorage(client, caller.orgId));
    // To an agent that waits for confirmation, "go on" would be an approval that no user gave. This check only saves a
    // call; agent-server never takes a run for an approval.
    if (row.statusState.execution === 'waiting_for_confirmation' && row.desired === 'run') throw awaitsConfirmation();
    const sandbox = reachSandbox(this.keys, id, row, ['run']);
    const outcome =
      sandbox === null
        ? null
        : await letRun(sandbox, id).catch((error: unknown) => {
            this.logger.warn({ err: error, conversation_id: id }, 'sandbox did not take the resume, a start is queued');
            return null;
          });
    if (outcome === 'waits') throw awaitsConfirmation();
    if (outcome === 'runs')
      return inOrg(this.pool, caller.orgId, async (client) => {
        await setHaltedBy(client, caller.orgId, id, null);
        await this.audit(client, caller, 'conversation.resume', id);
      });
    await this.change(caller, id, 'conversation.resume', () => ({
      desired: 'run',
      writer: 'keep',
      job: 'conversation-start',
      events: [],
    }));
  }

  /** The platform pauses a run that no other party can end any more. */
  private halted(row: SandboxRow): ConversationEvent[] {
    return row.statusState.execution === 'running'
      ? [this.event({ kind: 'ConversationStateUpdateEvent', key: 'execution_status', value: 'paused' })]
      : [];
  }

  private event(
    body: { kind: 'InterruptEvent' | 'PauseEvent' } | ({ kind: 'ConversationStateUpdateEvent' } & StateUpdate),
  ): ConversationEvent {
    return { id: this.ids.uuid(), timestamp: this.clock.now().toISOString(), source: 'environment', ...body };
  }

  /**
   * One transaction under the row's lock: what should be, what the log says, the job that brings it about, and who
   * asked. `null` changes nothing.
   */
  private async change(
    caller: Principal,
    id: string,
    action: string,
    decide: (current: SandboxRow) => {
      desired: 'run' | 'rest';
      writer: 'keep' | 'fence';
      job: ConversationQueue;
      events: ConversationEvent[];
    } | null,
  ): Promise<void> {
    const after = await inOrg(this.pool, caller.orgId, async (client) => {
      const current = await lockSandbox(client, caller.orgId, id);
      if (current === null) throw notFound();
      const wanted = decide(current);
      if (wanted === null) return null;
      const publish =
        wanted.events.length === 0
          ? () => {}
          : await this.ingest.appendPlatform(client, caller.orgId, id, { events: wanted.events, row: current });
      await setDesired(client, caller.orgId, id, {
        desired: wanted.desired,
        writer: wanted.writer,
        haltedBy: wanted.desired === 'rest' ? caller.actor.label : undefined,
      });
      await wantJob(client, caller.orgId, wanted.job, id);
      await this.audit(client, caller, action, id);
      return { publish, job: wanted.job };
    });
    if (after === null) return;
    after.publish();
    this.jobs.enqueue(after.job, caller.orgId, id);
  }

  private async audit(client: PoolClient, caller: Principal, action: string, target: string): Promise<void> {
    this.logger.info({ conversation_id: target }, action);
    await client.query(auditOf(this.ids.uuid(), caller, { action, target }));
  }
}

function awaitsConfirmation(): SlipwayError {
  return new SlipwayError('conversation.awaits-confirmation', 'The agent waits for a yes or a no to what it asks for.');
}
