import {
  type ConversationEvent,
  type IngestAck,
  type IngestApprovals,
  IngestBatch,
  type IngestClaims,
  isUpdateOf,
} from '@slipway/contracts/events';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import { notFound, parseOrThrow, SlipwayError } from '@slipway/errors';
import { currentContext, type Logger, traceIdOf } from '@slipway/telemetry';
import type { AnswerAudit } from '../../conversations/confirmation/answer-audit.js';
import { approvedActions } from '../../conversations/confirmation/approvals.queries.js';
import { hasReleased } from '../../conversations/inbox.queries.js';
import { Jobs } from '../../platform/jobs.js';
import { wantJob } from '../../platform/outbox.queries.js';
import { fullStorage } from '../../sandboxes/storage/full-storage.js';
import { readHead, readLines } from '../events/event-log.queries.js';
import { Hubs } from '../events/hubs.js';
import { eventPage, type LogLine, logLine } from '../events/log-line.js';
import {
  type Appended,
  append,
  appendLocked,
  appendUnderLock,
  type IncomingEvent,
  type LockedConversation,
} from './append.queries.js';
import { blobsOf, moveOutBlobs, putBackBlobs } from './event-blobs.js';
import { readBlobs } from './ingest.queries.js';
import type { RunEnds } from './run-ends.js';
import { type ConversationPatch, touchesConversation } from './status-patch.js';
import type { StorageHalt } from './storage-halt.js';

/** Conversations whose epoch is remembered. */
const REMEMBERED_EPOCHS = 10_000;
/** A page of the log with its payloads is cut before it is larger. Bytes, about. */
const MAX_PAGE_BYTES = 16 * 1024 * 1024;
/** States in which the workspace stands still for now, so that it is worth keeping what changed in it. */
const RESTING: ReadonlySet<string> = new Set(['finished', 'error', 'stuck', 'paused']);

export interface PlatformEvents {
  readonly events: readonly ConversationEvent[];
  readonly row: LockedConversation & { epoch: number };
}

export interface PublishedBatch {
  readonly epoch: number;
  readonly events: readonly IncomingEvent[];
  readonly appended: Appended;
}

/**
 * The only way into a log: batches of sandboxes, and events of the platform itself. Readers get them after the commit
 * and never before.
 */
export class IngestService {
  /** Highest epoch that has been written here, by conversation. */
  private readonly epochs = new Map<string, number>();

  constructor(
    private readonly pool: SqlPool,
    private readonly hubs: Hubs,
    private readonly jobs: Jobs,
    private readonly logger: Logger,
    private readonly answers: AnswerAudit,
    private readonly halt: StorageHalt,
    private readonly ends: RunEnds,
  ) {}

  /**
   * Stores a sandbox's batch; repeating it stores nothing twice.
   * @throws SlipwayError `ingest.stale-epoch` when another sandbox owns the conversation, `ingest.gap` when a batch
   * before this one is missing (both carry `ackedProducerSeq` and `head`), `request.invalid`, `resource.not-found`,
   * `storage.exhausted` when the organization has no room: its conversation is paused then, or `service.unavailable`
   * when the database does not answer: then nothing, or all of it, was stored.
   */
  async ingest(claims: IngestClaims, body: unknown): Promise<IngestAck & { stored: number }> {
    const { org: orgId, conversation: conversationId } = claims;
    const batch = parseOrThrow(IngestBatch, body);
    assertOwnEpoch(claims, batch);
    const context = currentContext();
    if (context !== undefined && batch.traceparent !== undefined) context.traceId = traceIdOf(batch.traceparent);
    // What is decided goes by the checked event; what is stored is what was sent, with every key that the schema does
    // not know.
    const sent = (body as { events: Array<{ event: unknown }> }).events;
    const events = batch.events.map(({ producerSeq, event }, index) =>
      incoming(event, producerSeq, sent[index]?.event),
    );
    assertConsecutive(events);
    let ack: (IngestAck & { stored: number }) | undefined;
    let snapshot = false;
    let captured = false;
    let turnEnded = false;
    let count = (): void => {};
    const also = async (
      client: PoolClient,
      patch: ConversationPatch,
      fresh: readonly ConversationEvent[],
    ): Promise<void> => {
      await this.answers.write(client, orgId, conversationId, fresh);
      count = await this.ends.note(client, orgId, conversationId, fresh);
      snapshot = patch.execution_status !== undefined && RESTING.has(patch.execution_status);
      turnEnded = patch.execution_status === 'finished' || patch.execution_status === 'idle';
      if (snapshot) await wantJob(client, orgId, 'conversation-snapshot', conversationId);
      captured = fresh.some((event) => isUpdateOf(event, 'checkpoint'));
      if (captured) await wantJob(client, orgId, 'conversation-checkpoint', conversationId);
    };
    for (const part of withoutRepeatedIds(events)) {
      const simple = part.every(({ event, blobs }) => blobs.length === 0 && !touchesConversation(event));
      const appended = await available(
        simple
          ? append(this.pool, orgId, conversationId, { epoch: batch.epoch, events: part })
          : appendLocked(this.pool, orgId, conversationId, { epoch: batch.epoch, events: part, also }),
      ).catch((error: unknown) => this.haltIfFull(orgId, conversationId, error));
      assertStored(appended);
      count();
      count = () => {};
      if (part[0]?.producerSeq === 1 && appended.stored.length > 0)
        void this.ends.began(orgId, conversationId, batch.epoch);
      this.remember(conversationId, batch.epoch);
      this.publish(orgId, conversationId, { epoch: batch.epoch, events: part, appended });
      if (snapshot) this.jobs.enqueue('conversation-snapshot', orgId, conversationId);
      if (captured) this.jobs.enqueue('conversation-checkpoint', orgId, conversationId);
      captured = false;
      if (turnEnded) void this.handOver(orgId, conversationId);
      turnEnded = false;
      ack = {
        ackedProducerSeq: appended.acked,
        head: appended.head,
        stored: (ack?.stored ?? 0) + appended.stored.length,
      };
    }
    return ack as IngestAck & { stored: number };
  }

  /**
   * Refuses a sandbox that is known here to have been replaced. Only what this process has seen: good enough for what
   * is never stored.
   * @throws SlipwayError `ingest.stale-epoch`
   */
  assertCurrent(claims: IngestClaims): void {
    if ((this.epochs.get(claims.conversation) ?? 0) > claims.epoch)
      throw new SlipwayError('ingest.stale-epoch', 'Another sandbox owns this conversation now.');
  }

  /**
   * Events of the platform, inside a transaction that holds the conversation's lock. Call the returned function after
   * the commit: it notifies the readers.
   */
  async appendPlatform(
    client: PoolClient,
    orgId: string,
    conversationId: string,
    { events, row }: PlatformEvents,
  ): Promise<() => void> {
    const lines = events.map((event) => incoming(event, null));
    const { appended, fresh } = await appendUnderLock(client, orgId, conversationId, {
      epoch: null,
      events: lines,
      row,
    });
    const count = await this.ends.note(client, orgId, conversationId, fresh);
    return () => {
      count();
      this.publish(orgId, conversationId, { epoch: row.epoch, events: lines, appended });
    };
  }

  /** The log as a sandbox reads it back: texts whole, without references to blobs. */
  async rehydrate(claims: IngestClaims, after: number, limit: number): Promise<string> {
    const { org: orgId, conversation: conversationId } = claims;
    const head = await available(readHead(this.pool, orgId, conversationId));
    if (head === null) throw notFound();
    const lines = withinPage(await available(readLines(this.pool, orgId, conversationId, { after, limit })));
    const wanted = [...new Set(lines.flatMap((line) => blobsOf(line.json).map(({ sha256 }) => sha256)))];
    const contents =
      wanted.length === 0
        ? new Map<string, string>()
        : await available(readBlobs(this.pool, orgId, conversationId, wanted));
    return eventPage(
      lines.map((line) =>
        line.json.includes('[blob sha256:') ? { seq: line.seq, json: putBackBlobs(line.json, contents) } : line,
      ),
      after,
      head,
    );
  }

  /** What a sandbox that takes over may carry out of what its log says was accepted, under four eyes. */
  async approvals({ org: orgId, conversation: conversationId }: IngestClaims): Promise<IngestApprovals> {
    const actions = await available(
      inOrg(this.pool, orgId, (client) => approvedActions(client, orgId, conversationId)),
    );
    return { action_ids: [...actions] };
  }

  /**
   * After a turn: the message that `app.append_events` has released for delivery. Not awaited by the sandbox's answer.
   * A job that is not queued here is queued by worker's sweep.
   */
  private async handOver(orgId: string, conversationId: string): Promise<void> {
    if (!(await hasReleased(this.pool, orgId, conversationId).catch(() => false))) return;
    this.jobs.enqueue('conversation-deliver', orgId, conversationId);
    this.hubs.inboxChanged(orgId, conversationId);
  }

  private async haltIfFull(orgId: string, conversationId: string, error: unknown): Promise<never> {
    if (!(error instanceof SlipwayError) || error.code !== 'storage.exhausted') throw error;
    const publish = await available(
      this.halt.write(orgId, conversationId, error.detail, (client, events, row) =>
        this.appendPlatform(client, orgId, conversationId, { events, row }),
      ),
    );
    if (publish !== null) {
      publish();
      this.jobs.enqueue('conversation-pause', orgId, conversationId);
      this.logger.warn(
        { org_id: orgId, conversation_id: conversationId },
        'storage of the organization is full, conversation paused',
      );
    }
    throw error;
  }

  private remember(conversationId: string, epoch: number): void {
    this.epochs.delete(conversationId);
    this.epochs.set(conversationId, epoch);
    if (this.epochs.size > REMEMBERED_EPOCHS) this.epochs.delete(this.epochs.keys().next().value as string);
  }

  private publish(orgId: string, conversationId: string, { epoch, events, appended }: PublishedBatch): void {
    if (appended.stored.length === 0) return;
    const texts = new Map(events.map(({ event, text }) => [event.id, text]));
    try {
      this.hubs.committed(
        orgId,
        conversationId,
        appended.stored.map((id, index) =>
          logLine(conversationId, appended.firstSeq + index, epoch, texts.get(id) as string),
        ),
      );
    } catch (error) {
      // The events are stored and will be acknowledged; readers catch up at the next head check.
      this.logger.error(
        { err: error, conversation_id: conversationId },
        'failed to send new events to readers, they catch up at the next head check',
      );
    }
  }
}

/** @throws SlipwayError `request.invalid`: a token is for one epoch. */
export function assertOwnEpoch(claims: IngestClaims, body: { epoch: number }): void {
  if (body.epoch !== claims.epoch)
    throw new SlipwayError('request.invalid', 'epoch: is not that of the token', {
      fields: [{ path: 'epoch', message: 'is not that of the token' }],
    });
}

function incoming(event: ConversationEvent, producerSeq: number | null, sent: unknown = event): IncomingEvent {
  try {
    return { producerSeq, event, ...moveOutBlobs(JSON.stringify(sent)) };
  } catch (error) {
    throw new SlipwayError('request.invalid', 'An event is nested too deeply.', { cause: error });
  }
}

/** As many lines as make a page that fits in memory when their payloads are put back, and at least one. */
function withinPage(lines: readonly LogLine[]): readonly LogLine[] {
  let bytes = 0;
  const end = lines.findIndex((line) => {
    bytes += line.json.length + blobsOf(line.json).reduce((sum, blob) => sum + blob.bytes, 0);
    return bytes > MAX_PAGE_BYTES;
  });
  return end === -1 ? lines : lines.slice(0, Math.max(1, end));
}

function assertConsecutive(events: readonly IncomingEvent[]): void {
  for (const [index, { producerSeq }] of events.entries())
    if (index > 0 && producerSeq !== (events[index - 1]?.producerSeq ?? 0) + 1)
      throw new SlipwayError('request.invalid', `events.${index}.producerSeq: must follow the one before it by 1`);
}

/**
 * The batch in parts, in order, none of which has an event id twice: the second one is then known, and is acknowledged
 * without being stored.
 */
function withoutRepeatedIds(events: readonly IncomingEvent[]): Array<readonly IncomingEvent[]> {
  if (new Set(events.map(({ event }) => event.id)).size === events.length) return [events];
  const parts: IncomingEvent[][] = [[]];
  let seen = new Set<string>();
  for (const item of events) {
    if (seen.has(item.event.id)) {
      seen = new Set();
      parts.push([]);
    }
    seen.add(item.event.id);
    parts.at(-1)?.push(item);
  }
  return parts;
}

function assertStored(appended: Appended): void {
  const extensions = { ackedProducerSeq: appended.acked, head: appended.head };
  switch (appended.outcome) {
    case 'ok':
      return;
    case 'stale':
      throw new SlipwayError('ingest.stale-epoch', 'Another sandbox owns this conversation now.', { extensions });
    case 'gap':
      throw new SlipwayError('ingest.gap', `The next event must have producerSeq ${appended.acked + 1}.`, {
        extensions,
      });
    case 'missing':
      throw notFound();
  }
}

/**
 * A database that does not answer is distinguished from a fault of ours: the sandbox keeps its events and tries again.
 */
async function available<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof SlipwayError) throw error;
    const full = fullStorage(error);
    if (full !== null) throw full;
    // Classes 22 and 54: the database cannot hold this value, however often it is sent.
    const code = (error as { code?: unknown }).code;
    if (typeof code === 'string' && (code.startsWith('22') || code.startsWith('54')))
      throw new SlipwayError(
        'request.invalid',
        'An event cannot be stored: it is nested too deeply or holds a value that no column takes.',
        { cause: error },
      );
    throw new SlipwayError('service.unavailable', 'The log cannot be written or read at the moment.', {
      cause: error,
      retryAfterSeconds: 1,
    });
  }
}
