import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { capture } from '../capture/capture.js';
import { type Captured, type CaptureRequest, UNBOUNDED } from '../capture/capture-types.js';
import type { CheckpointObject } from '../objects/checkpoint-object.js';
import { DEFAULT_RULES } from '../policy/policy.js';
import type { applyTree, indexRoot } from '../restore/apply-tree.js';
import type { planRestore } from '../restore/plan-restore.js';
import type { Applied } from '../restore/restore-types.js';

/** The library, or a copy of it with a defect. */
export interface Library {
  readonly capture: typeof capture;
  readonly applyTree: typeof applyTree;
  readonly planRestore: typeof planRestore;
  readonly indexRoot: typeof indexRoot;
}

/** One sandbox's disk with an index, beside a store of objects that may be shared. */
export class Place {
  readonly project: string;
  readonly home: string;
  readonly indexFile: string;
  readonly folder: string;

  constructor(
    private readonly library: Library,
    readonly store: Map<string, CheckpointObject> = new Map(),
  ) {
    this.folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-checkpoint-'));
    this.project = path.join(this.folder, 'project');
    this.home = path.join(this.folder, 'home');
    this.indexFile = path.join(this.folder, 'index');
    for (const each of [this.project, this.home]) mkdirSync(each);
  }

  get roots(): CaptureRequest['roots'] {
    return [
      { name: 'project', directory: this.project },
      { name: 'home', directory: this.home },
    ];
  }

  /** Captures and commits. The clock is that of the computer, and two seconds early where nothing is to be racy. */
  async capture(more: Partial<CaptureRequest> = {}): Promise<Captured> {
    const captured = await this.library.capture({
      roots: this.roots,
      indexFile: this.indexFile,
      meta: { terminals: Buffer.from('[]') },
      rules: DEFAULT_RULES,
      sink: { put: ({ kind, id, bytes }) => void this.store.set(id, { kind, id, bytes: Buffer.from(bytes) }) },
      budgets: UNBOUNDED,
      heavy: 'capture',
      dirty: null,
      seed: Buffer.from('seed'),
      clock: () => Date.now(),
      signal: AbortSignal.timeout(60_000),
      ...more,
    });
    captured.commit();
    return captured;
  }

  /** The state hash of a whole scan: without an index. */
  async scan(more: Partial<CaptureRequest> = {}): Promise<Captured> {
    const indexFile = path.join(this.folder, 'none');
    rmSync(indexFile, { force: true });
    return await this.capture({ indexFile, ...more });
  }

  /** @param meanwhile happens after the last tree was given and before the first chunk. */
  async restore(root: string, over: 'covered' | 'blank', meanwhile: (() => void) | null = null): Promise<Applied> {
    const load = (id: string): Promise<Uint8Array> => {
      const found = this.store.get(id);
      return found === undefined ? Promise.reject(new Error(`no tree ${id}`)) : Promise.resolve(found.bytes);
    };
    const signal = AbortSignal.timeout(60_000);
    const current = over === 'blank' ? null : this.library.indexRoot(this.indexFile);
    const plan = await this.library.planRestore({ root, current, load, signal });
    const { store } = this;
    async function* objects(): AsyncGenerator<CheckpointObject> {
      for (const id of plan.trees) yield store.get(id) as CheckpointObject;
      // In any order: backwards here, but for one that needs the small files of `meta` first.
      const chunks = meanwhile === null ? [...plan.chunks].reverse() : [...plan.chunks];
      for (const [index, id] of chunks.entries()) {
        // Folders are made when the first chunk is there.
        if (index === 1) meanwhile?.();
        yield store.get(id) as CheckpointObject;
      }
    }
    const scratch = path.join(this.folder, 'scratch');
    return await this.library.applyTree({
      roots: this.roots,
      root,
      objects: objects(),
      indexFile: this.indexFile,
      over,
      needs: plan.files,
      scratch,
      signal,
    });
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
