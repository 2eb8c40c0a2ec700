import type { IndexReader } from '../index-file/index-reader.js';
import { textOf } from '../tree/tree-entry.js';
import type { Applied, KeptReason } from './restore-types.js';
import type { TreeStore } from './tree-store.js';
import type { WriteFiles } from './write-files.js';

/** Named at most. */
const MAX_NAMED = 1_000;

/** What the parts of one restore share. */
export class RestoreState {
  deleted = 0;
  /** Folders that were entered, by path: `extra` when they have names that the checkpoint does not. */
  readonly entered = new Map<string, { extra: boolean }>();
  private readonly keptPaths = new Set<string>();
  private readonly named: { path: string; reason: KeptReason }[] = [];
  private keptCount = 0;

  constructor(
    readonly trees: TreeStore,
    /** `null` in a blank sandbox. */
    readonly index: IndexReader | null,
    readonly files: WriteFiles,
  ) {}

  /** @param path bytes, one a character. Stays as it is on disk, though the checkpoint has something else there. */
  keep(path: string, reason: KeptReason): void {
    this.keptCount += 1;
    this.keptPaths.add(path);
    if (this.named.length < MAX_NAMED) this.named.push({ path: textOf(path), reason });
  }

  isKept(path: string): boolean {
    return this.keptPaths.has(path);
  }

  kept(): Applied['kept'] {
    return { count: this.keptCount, named: this.named };
  }
}
