import type { Logger } from '@slipway/telemetry';
import { ClusterError, type ClusterStatus } from './cluster-error.js';
import type { Tracked } from './cluster-objects.js';
import { type BinaryReading, type KubeApi, statusError } from './kube-api.js';
import { backOff, type Timing } from './timing.js';
import { compareVersions, type WatchCache } from './watch-cache.js';

/** Objects of one page of a list that is read from etcd. */
const PAGE = 500;
/**
 * Shortest time from the begin of one list to the next, however often the server says 410. Milliseconds; the first is
 * at once.
 */
const RELIST_PACE_MS = 5_000;
/**
 * A whole list this often all the same: it repairs what a broken proxy between us and the server has swallowed.
 * Milliseconds.
 */
const RESYNC_MS = 600_000;
/**
 * Without an event or a bookmark for this long the connection is taken for dead. Milliseconds; the server sends a
 * bookmark about every minute.
 */
const WATCHDOG_MS = 90_000;
/**
 * How long the server lets a watch run: between this and twice this, so that the watches of all replicas do not end
 * together. Seconds.
 */
const WATCH_SECONDS = 240;
const RETRY_BASE_MS = 100;
/**
 * What was made meanwhile becomes ready when the watch is back: an outage is not to last much longer for us than for
 * the API server. Milliseconds.
 */
const RETRY_MOST_MS = 5_000;
/** A watch that lasted this long was no failure. Milliseconds. */
const LASTED_MS = 1_000;
/** A silence of so long was an outage: longer than any watch takes to begin again after a cut. Milliseconds. */
const OUTAGE_MS = 10_000;
/** Failures between two lines in the log. */
const QUIET_FAILURES = 10;

export interface WatchConfig<T extends Tracked> {
  readonly api: KubeApi;
  /** Without a query: `/api/v1/nodes`. */
  readonly path: string;
  readonly labelSelector?: string;
  /** As in `watch the pods`. */
  readonly noun: string;
  /** Takes of an object what is used. */
  readonly read: (object: unknown) => T;
  /** Reads the binary form of a list; absent: lists come as JSON. Watches always do. */
  readonly readList?: () => BinaryReading;
  readonly cache: WatchCache<T>;
  readonly onChange: () => void;
  readonly timing: Timing;
  readonly logger: Logger;
}

interface Page {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items?: readonly unknown[];
}

/**
 * Keeps a cache in step with the API server: a whole list, then a watch from its version on, again and again. The cache
 * is readable all the time, also while it is listed again. `run` ends only by its signal.
 */
export class ClusterWatch<T extends Tracked> {
  /** Where the watch goes on; `null` when a list is needed. */
  private position: string | null = null;
  private listedAt = Number.NEGATIVE_INFINITY;
  private failures = 0;
  private connected = false;
  /** Up to when what happened is known, if there is no watch now. */
  private heardAt: number;
  /** When the watch had its last line, or began. */
  private aliveAt = 0;
  private hasList = false;
  /** Version of the last whole list that was read; `0`: any will do for the first. */
  private listed = '0';
  /** The last list failed. */
  private listFailed = false;
  /** Why it is not connected. */
  lastError: ClusterError | null = null;
  /** Whole lists that were begun. */
  lists = 0;
  /** When the server was first heard again after an outage; minus infinity when there was none. */
  returnedAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly config: WatchConfig<T>) {
    this.heardAt = config.timing.now();
  }

  /** There was a whole list. */
  get synced(): boolean {
    return this.hasList;
  }

  /** How long nothing was heard because there is no watch; 0 while one is open. Milliseconds. */
  get staleForMs(): number {
    return this.connected ? 0 : this.config.timing.now() - this.heardAt;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { timing, logger, noun } = this.config;
    while (!signal.aborted) {
      const began = timing.now();
      try {
        if (this.position === null || began - this.listedAt > RESYNC_MS) await this.list(signal);
        await this.follow(signal);
        if (timing.now() - began >= LASTED_MS) this.failures = 0;
        else this.failures += 1;
      } catch (error) {
        if (signal.aborted) break;
        if (error instanceof ClusterError && error.isGone) this.position = null;
        this.lastError =
          error instanceof ClusterError
            ? error
            : new ClusterError('sandbox.cluster-unavailable', String(error), 0, error);
        if (this.failures % QUIET_FAILURES === 0)
          logger.warn(
            { err: error, stale_ms: Math.round(this.staleForMs) },
            `failed to watch the ${noun} of the cluster`,
          );
        this.failures += 1;
      }
      // The first cut costs nothing: a server that ends a watch is not a server in need.
      const delay = backOff(Math.max(0, this.failures - 1), RETRY_BASE_MS, RETRY_MOST_MS, timing);
      await timing.wait(delay, signal).catch(() => {});
    }
  }

  private async list(signal: AbortSignal): Promise<void> {
    const { timing, read, cache, onChange } = this.config;
    await timing.wait(Math.max(0, this.listedAt + RELIST_PACE_MS - timing.now()), signal);
    this.listedAt = timing.now();
    this.lists += 1;
    const failedBefore = this.listFailed;
    this.listFailed = true;
    const objects: T[] = [];
    let version = '';
    let next = '';
    do {
      const page = await this.page(signal, failedBefore, next);
      version = page.metadata?.resourceVersion ?? '';
      next = page.metadata?.continue ?? '';
      for (const item of page.items ?? []) objects.push(read(item));
      this.noteReturn();
      this.heardAt = timing.now();
    } while (next !== '');
    this.listFailed = false;
    this.position = version;
    this.listed = version;
    this.hasList = true;
    this.lastError = null;
    if (cache.replace(objects, version)) onChange();
  }

  /**
   * Whole, out of the API server's memory, no older than what was known, as client-go's reflectors list. After a
   * failure in pages, as it is in etcd now: the server then perhaps knows nothing as new as that (the cluster came back
   * from a backup), or cannot make so long an answer.
   */
  private page(signal: AbortSignal, inPages: boolean, next: string): Promise<Page> {
    const { api, noun, readList } = this.config;
    const query: Record<string, string> = inPages
      ? { limit: String(PAGE), ...(next === '' ? {} : { continue: next }) }
      : { resourceVersion: this.listed, resourceVersionMatch: 'NotOlderThan' };
    return api.list(this.query(query), `list the ${noun}`, signal, readList) as Promise<Page>;
  }

  /** Until the server ends the watch. @throws ClusterError; `isGone` when the position is too old. */
  private async follow(signal: AbortSignal): Promise<void> {
    const { api, timing, noun } = this.config;
    const watchdog = new AbortController();
    const over = new AbortController();
    const both = AbortSignal.any([signal, watchdog.signal]);
    const seconds = Math.round(WATCH_SECONDS * (1 + timing.random()));
    const query = this.query({
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion: this.position ?? '',
      timeoutSeconds: String(seconds),
    });
    let opened = false;
    this.aliveAt = timing.now();
    const watching = this.keepWatch(watchdog, AbortSignal.any([signal, over.signal]));
    try {
      for await (const line of api.watch(query, `watch the ${noun}`, both, () => {
        opened = true;
        this.noteReturn();
        this.connected = true;
        this.lastError = null;
      })) {
        this.aliveAt = timing.now();
        this.take(line);
        this.failures = 0;
      }
    } catch (error) {
      if (watchdog.signal.aborted && !signal.aborted)
        throw new ClusterError(
          'sandbox.cluster-unavailable',
          `Nothing was heard of the ${noun} for ${WATCHDOG_MS / 1_000} s; the watch starts again.`,
          0,
        );
      // A cut of an open watch is the ordinary end of many.
      if (!opened || signal.aborted || (error instanceof ClusterError && error.status !== 0)) throw error;
    } finally {
      // A dead connection reports nothing after its last line.
      if (this.connected) this.heardAt = watchdog.signal.aborted ? this.aliveAt : timing.now();
      this.connected = false;
      over.abort();
      await watching;
    }
  }

  private noteReturn(): void {
    if (this.staleForMs > OUTAGE_MS) this.returnedAt = this.config.timing.now();
  }

  private take(line: string): void {
    const { read, cache, onChange, noun } = this.config;
    const event = JSON.parse(line) as { type?: string; object?: { metadata?: { resourceVersion?: string } } };
    if (event.type === 'ERROR') throw statusError((event.object ?? {}) as ClusterStatus, `watch the ${noun}`);
    const version = event.object?.metadata?.resourceVersion ?? '';
    // What comes late must not lead back.
    if (compareVersions(version, this.position ?? '') > 0) this.position = version;
    if (event.type === 'BOOKMARK' || event.object === undefined) return;
    const object = read(event.object);
    if (event.type === 'DELETED' ? cache.delete(object) : cache.set(object)) onChange();
  }

  private async keepWatch(watchdog: AbortController, signal: AbortSignal): Promise<void> {
    const { timing } = this.config;
    while (!signal.aborted) {
      const left = this.aliveAt + WATCHDOG_MS - timing.now();
      if (left <= 0) return watchdog.abort();
      await timing.wait(left, signal).catch(() => {});
    }
  }

  private query(parameters: Record<string, string>): string {
    const { path, labelSelector } = this.config;
    return `${path}?${new URLSearchParams({ ...(labelSelector === undefined ? {} : { labelSelector }), ...parameters })}`;
  }
}
