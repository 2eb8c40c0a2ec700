import type { IndexReader } from '../index-file/index-reader.js';
import type { IndexWriter } from '../index-file/index-writer.js';
import type { Policy } from '../policy/policy.js';
import type { CaptureBudgets, DeferredReason, LeftOutReason } from './capture-types.js';
import type { Listing } from './listing.js';
import type { FileReader } from './read-file.js';
import type { SentObjects } from './sent-objects.js';
import type { Slices } from './slices.js';

/** What one capture's walk uses and counts. */
export interface WalkContext {
  readonly earlier: IndexReader | null;
  readonly writer: IndexWriter;
  readonly reader: FileReader;
  readonly objects: SentObjects;
  readonly slices: Slices;
  readonly policy: Policy;
  /** Whether the earlier capture had the same: names that it left out need no second look then. */
  readonly samePolicy: boolean;
  readonly budgets: CaptureBudgets;
  readonly heavy: 'reference' | 'capture';
  /** With all folders above them; `null`: any may have changed. */
  readonly dirty: ReadonlySet<string> | null;
  /** After a restore: what is stale, heavy or uncaptured counts as it was written, and is not looked into. */
  readonly verify: boolean;
  /** Monotone milliseconds at which the budget ends. */
  readonly until: number;
  readonly deferred: Listing<DeferredReason>;
  readonly leftOut: Listing<LeftOutReason>;
  readonly torn: Listing<'torn'>;
  /** First path of each file that has several names, by device and inode. */
  readonly links: Map<string, string>;
  read: number;
}
