import type { ObjectSink } from '../objects/checkpoint-object.js';
import type { ContentId } from '../objects/content-id.js';
import type { PolicyRules } from '../policy/policy.js';

/** A folder on disk under the name that trees know it by. */
export interface NamedRoot {
  readonly name: 'project' | 'home';
  readonly directory: string;
}

export interface CaptureBudgets {
  /** Milliseconds; what was not looked at by then is deferred. */
  readonly milliseconds: number;
  /** Bytes given to the sink. */
  readonly newBytes: number;
  /** Files that were read. */
  readonly newEntries: number;
}

/** What a message or a rest waits for. */
export const WAITED: CaptureBudgets = { milliseconds: 250, newBytes: 256 * 2 ** 20, newEntries: 50_000 };
/** What runs while nobody waits. */
export const UNBOUNDED: CaptureBudgets = {
  milliseconds: Number.POSITIVE_INFINITY,
  newBytes: Number.POSITIVE_INFINITY,
  newEntries: Number.POSITIVE_INFINITY,
};

export interface CaptureRequest {
  readonly roots: readonly NamedRoot[];
  /** Read when it is there and whole, and replaced by `commit()`. A lost or damaged one costs a full reading only. */
  readonly indexFile: string;
  /** Small files of the caller, at most 1 MiB each: they are the root `meta`, part of the state hash. */
  readonly meta: Readonly<Record<string, Uint8Array>>;
  readonly rules: PolicyRules;
  readonly sink: ObjectSink;
  readonly budgets: CaptureBudgets;
  /**
   * Heavy folders whose fingerprint has changed: `reference` names their earlier capture and defers them, `capture`
   * reads them, in the background.
   */
  readonly heavy: 'reference' | 'capture';
  /**
   * Folders that may have changed, root name included, as a watcher has them; all others are taken as they were.
   * `null`: all are looked at, and only such a capture is the truth.
   */
  readonly dirty: ReadonlySet<string> | null;
  /** Of the organization, for where large files are cut. No key. */
  readonly seed: Uint8Array;
  /** Milliseconds since 1970 on the clock of the file system. */
  readonly clock: () => number;
  readonly signal: AbortSignal;
}

export type LeftOutReason = 'cache' | 'excluded' | 'lock' | 'special' | 'unreadable' | 'too-large' | 'too-deep';
export type DeferredReason = 'budget' | 'heavy' | 'changing';

export interface Named<Reason> {
  /** Root name included, as text. A folder ends in `/`. */
  readonly path: string;
  readonly reason: Reason;
}

/** How many, and the first 100 by name. */
export interface Listed<Reason> {
  readonly count: number;
  readonly named: readonly Named<Reason>[];
}

export interface Captured {
  /** State hash: id of the root tree, which the sink has unless the earlier capture had it. */
  readonly root: ContentId;
  /** The same without times, hard links and `meta`. */
  readonly contentHash: ContentId;
  readonly files: number;
  /** Of all files, holes included. */
  readonly logicalBytes: number;
  /** Given to the sink. */
  readonly newBytes: number;
  readonly newObjects: number;
  /** Files that were read. */
  readonly read: number;
  /** `false` while something is deferred. */
  readonly complete: boolean;
  /** To be captured yet: by the next capture, in the background. */
  readonly deferred: Listed<DeferredReason>;
  /** Never captured. */
  readonly skipped: Listed<LeftOutReason>;
  /** Files that were written to during each of three readings: the third is kept. */
  readonly torn: Listed<'torn'>;
  /** Slices of the event loop that were taken, and the longest. Milliseconds. */
  readonly longestSlice: number;
  /** Makes this capture the one that the next is compared with: after its objects were staged. */
  commit(): void;
  /** Forgets it: the next capture gives its objects again. */
  discard(): void;
}
