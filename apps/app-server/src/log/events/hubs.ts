import { randomUUID } from 'node:crypto';
import type { Hint, StreamingDelta } from '@slipway/contracts/events';
import type { SqlPool } from '@slipway/db/sql';
import { notFound } from '@slipway/errors';
import type { HintBus } from '@slipway/queue';
import type { Logger } from '@slipway/telemetry';
import { Histogram, type Registry } from '@slipway/telemetry/http';
import { ConversationHub } from './conversation-hub.js';
import { readHead, readHeadAges, readHeads, readLines } from './event-log.queries.js';
import type { LogLine } from './log-line.js';
import { Partials } from './partials.js';

/** How often heads are compared with the database, so that a lost hint costs at most this. Milliseconds. */
const HEAD_CHECK_MS = 3_000;
/** Conversations that one query compares. */
const CONVERSATIONS_PER_CHECK = 5_000;

interface Entry {
  hub: ConversationHub | null;
  opening: Promise<ConversationHub>;
  holders: number;
  /** Offered while the head was being read. */
  early: LogLine[][];
  /** Highest head that a hint named meanwhile. */
  hinted: number;
}

/** Whoever shows a whole organization. */
export interface ChangeListener {
  /** A conversation has new events, or other messages that wait. Nothing is said of what changed. */
  changed(orgId: string, conversationId: string): void;
  /** A user has looked further, or changed their own row. */
  marked(orgId: string, conversationId: string, userId: string): void;
  /** Changes may have been missed. */
  missed(): void;
}

/**
 * The hubs of the conversations with readers in this process, and the entry of new events: own commits come by
 * `committed`, those of other replicas and of the worker by hint, and after a lost hint by the head check.
 */
export class Hubs {
  /** Names this process in its hints, so that it does not act on its own. */
  private readonly from = randomUUID();
  private readonly entries = new Map<string, Entry>();
  private readonly partials = new Partials();
  private readonly listeners = new Set<ChangeListener>();
  private readonly unsubscribe: () => void;
  private readonly timer: NodeJS.Timeout;
  private checking = false;
  private readonly delivery: Histogram;
  private readonly end = new AbortController();
  /** Aborted when this process stops: streams end and their readers come back elsewhere. */
  readonly ending: AbortSignal = this.end.signal;

  constructor(
    private readonly pool: SqlPool,
    private readonly bus: HintBus,
    private readonly logger: Logger,
    metrics: Registry,
  ) {
    this.delivery = new Histogram({
      name: 'event_delivery_seconds',
      help: 'Time from the commit of events to their writing to the sockets and streams of this replica; one observation per batch',
      buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      registers: [metrics],
    });
    this.unsubscribe = bus.subscribe(
      (hint) => this.hinted(hint),
      () => this.missed(),
    );
    this.timer = setInterval(() => void this.checkHeads(), HEAD_CHECK_MS);
    this.timer.unref();
  }

  /**
   * The hub of a conversation; every `acquire` needs one `release`.
   * @throws SlipwayError `resource.not-found` when the organization has no such conversation.
   */
  async acquire(orgId: string, conversationId: string): Promise<ConversationHub> {
    const key = keyOf(orgId, conversationId);
    let entry = this.entries.get(key);
    if (entry === undefined) {
      const made: Entry = {
        hub: null,
        holders: 0,
        early: [],
        hinted: 0,
        opening: this.open(orgId, conversationId, () => made),
      };
      entry = made;
      this.entries.set(key, made);
    }
    entry.holders += 1;
    try {
      return await entry.opening;
    } catch (error) {
      this.drop(key, entry);
      throw error;
    }
  }

  release(hub: ConversationHub): void {
    const key = keyOf(hub.orgId, hub.conversationId);
    const entry = this.entries.get(key);
    if (entry?.hub === hub) this.drop(key, entry);
  }

  /** Lines that this process has committed, consecutive: to its own readers at once, to others by a hint. */
  committed(orgId: string, conversationId: string, lines: readonly LogLine[]): void {
    const last = lines.at(-1);
    if (last === undefined) return;
    const key = keyOf(orgId, conversationId);
    const entry = this.entries.get(key);
    if (entry?.hub != null) entry.hub.offer(lines);
    else {
      entry?.early.push([...lines]);
      this.partials.change(key, (partial) => partial.endedBy(lines), false);
    }
    this.changed(orgId, conversationId);
    this.bus.publish({ kind: 'events', orgId, conversationId, head: last.seq, from: this.from, at: Date.now() });
  }

  /** Hears of every conversation of every organization, with readers or without. @returns what ends it. */
  listenToAll(listener: ChangeListener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** A user's own mark in a conversation was stored. */
  markChanged(orgId: string, conversationId: string, userId: string): void {
    for (const listener of this.listeners) listener.marked(orgId, conversationId, userId);
    this.bus.publish({ kind: 'mark', orgId, conversationId, userId, from: this.from });
  }

  delta(orgId: string, conversationId: string, delta: StreamingDelta): void {
    this.written(keyOf(orgId, conversationId), delta);
    this.bus.publish({ kind: 'delta', orgId, conversationId, delta, from: this.from });
  }

  private written(key: string, delta: StreamingDelta): void {
    const hub = this.entries.get(key)?.hub;
    if (hub != null) hub.delta(delta);
    else this.partials.change(key, (partial) => partial.add(delta), false);
  }

  inboxChanged(orgId: string, conversationId: string): void {
    this.entries.get(keyOf(orgId, conversationId))?.hub?.inboxChanged();
    this.changed(orgId, conversationId);
    this.bus.publish({ kind: 'inbox', orgId, conversationId, from: this.from });
  }

  reviewChanged(orgId: string, conversationId: string): void {
    this.entries.get(keyOf(orgId, conversationId))?.hub?.reviewChanged();
    this.bus.publish({ kind: 'review', orgId, conversationId, from: this.from });
  }

  /** The conversation has been deleted: its readers here and on other replicas are sent away. */
  gone(orgId: string, conversationId: string): void {
    this.sendAway(keyOf(orgId, conversationId));
    this.changed(orgId, conversationId);
    this.bus.publish({ kind: 'gone', orgId, conversationId, from: this.from });
  }

  /** The next reader opens the conversation anew, and finds it or not. */
  private sendAway(key: string): void {
    const hub = this.entries.get(key)?.hub;
    if (hub == null) return;
    this.entries.delete(key);
    this.partials.forget(key);
    hub.gone();
  }

  /** Ends the streams of events; their readers come back elsewhere. */
  endStreams(): void {
    this.end.abort();
  }

  close(): void {
    clearInterval(this.timer);
    this.unsubscribe();
    this.endStreams();
    for (const entry of this.entries.values()) entry.hub?.close();
    this.entries.clear();
  }

  private async open(orgId: string, conversationId: string, entry: () => Entry): Promise<ConversationHub> {
    const head = await readHead(this.pool, orgId, conversationId);
    if (head === null) throw notFound();
    const hub = new ConversationHub(
      orgId,
      conversationId,
      head,
      {
        delivered: (seconds) => this.delivery.observe(seconds),
        read: (after, limit) => readLines(this.pool, orgId, conversationId, { after, limit }),
        failed: (error) =>
          this.logger.warn(
            { err: error, conversation_id: conversationId },
            'failed to read the log, will retry at the next head check',
          ),
      },
      this.partials,
      keyOf(orgId, conversationId),
    );
    const made = entry();
    made.hub = hub;
    for (const lines of made.early) hub.offer(lines);
    made.early.length = 0;
    void hub.behind(made.hinted);
    return hub;
  }

  private changed(orgId: string, conversationId: string): void {
    for (const listener of this.listeners) listener.changed(orgId, conversationId);
  }

  private drop(key: string, entry: Entry): void {
    entry.holders -= 1;
    if (entry.holders > 0) return;
    entry.hub?.close();
    if (this.entries.get(key) === entry) this.entries.delete(key);
  }

  private hinted(hint: Hint): void {
    if (hint.from === this.from) return;
    const key = keyOf(hint.orgId, hint.conversationId);
    if (hint.kind === 'delta') {
      this.written(key, hint.delta);
      return;
    }
    if (hint.kind === 'mark') {
      for (const listener of this.listeners) listener.marked(hint.orgId, hint.conversationId, hint.userId);
      return;
    }
    this.changed(hint.orgId, hint.conversationId);
    if (hint.kind === 'gone') {
      this.sendAway(key);
      return;
    }
    const entry = this.entries.get(key);
    const hub = entry?.hub ?? null;
    if (hub === null) {
      if (hint.kind !== 'events') return;
      if (entry !== undefined) entry.hinted = Math.max(entry.hinted, hint.head);
      // Events of this conversation have no readers here: it may be what is being written.
      this.partials.forget(key);
    } else if (hint.kind === 'events') void hub.behind(hint.head, sinceOf(hint.at));
    else if (hint.kind === 'review') hub.reviewChanged();
    else hub.inboxChanged();
  }

  /** Any hint may have been lost, not only those of heads. */
  private missed(): void {
    for (const listener of this.listeners) listener.missed();
    for (const { hub } of this.entries.values()) {
      hub?.inboxChanged();
      hub?.reviewChanged();
    }
    void this.checkHeads();
  }

  private async checkHeads(): Promise<void> {
    if (this.checking || this.entries.size === 0) return;
    this.checking = true;
    try {
      const hubs = [...this.entries.values()].flatMap(({ hub }) => (hub === null ? [] : [hub]));
      for (let from = 0; from < hubs.length; from += CONVERSATIONS_PER_CHECK) {
        const chunk = hubs.slice(from, from + CONVERSATIONS_PER_CHECK);
        const heads = await readHeads(
          this.pool,
          chunk.map((hub) => hub.conversationId),
        );
        for (const hub of chunk)
          if (!heads.has(hub.conversationId)) this.sendAway(keyOf(hub.orgId, hub.conversationId));
        const late = chunk.filter((hub) => (heads.get(hub.conversationId) ?? 0) > hub.head);
        const ages = late.length === 0 ? new Map<string, number>() : await readHeadAges(this.pool, late);
        for (const hub of late)
          void hub.behind(heads.get(hub.conversationId) ?? 0, performance.now() - (ages.get(hub.conversationId) ?? 0));
      }
    } catch (error) {
      this.logger.warn({ err: error }, 'head check failed, will retry');
    } finally {
      this.checking = false;
    }
  }
}

/** The clock of another replica may be a little off; never in the future. */
function sinceOf(at = Date.now()): number {
  return performance.now() - Math.max(0, Date.now() - at);
}

function keyOf(orgId: string, conversationId: string): string {
  return `${orgId}/${conversationId}`;
}
