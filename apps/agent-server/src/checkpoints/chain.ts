import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { CapturedCheckpoint } from '@slipway/contracts/agent';
import { z } from 'zod';

const Base = z.object({ id: z.uuid(), root: z.string(), complete: z.boolean() });
const Written = z.object({
  base: Base.nullable(),
  staged: z.array(z.object({ captured: CapturedCheckpoint, bytes: z.int().nonnegative() })),
});
type Written = z.infer<typeof Written>;
export type Staged = Written['staged'][number];

const EMPTY: Written = { base: null, staged: [] };

/**
 * The checkpoints of a conversation that are not known to be durable yet, oldest first, each with its objects in a
 * file, and the durable one that they follow. What is said of them on disk is replaced at once: a process that dies
 * leaves the state of before or of after.
 */
export class CheckpointChain {
  /** Changes, one after the other; never rejects. */
  private turn: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly directory: string,
    private state: Written,
  ) {}

  /** A damaged or missing note is an empty chain, after which everything is captured anew. */
  static async open(directory: string): Promise<CheckpointChain> {
    const text = await readFile(path.join(directory, 'chain.json'), 'utf8').catch(() => null);
    if (text === null) return new CheckpointChain(directory, EMPTY);
    try {
      return new CheckpointChain(directory, Written.parse(JSON.parse(text)));
    } catch {
      return new CheckpointChain(directory, EMPTY);
    }
  }

  get base(): string | null {
    return this.state.base?.id ?? null;
  }

  get staged(): readonly Staged[] {
    return this.state.staged;
  }

  /** State hash and completeness of the newest; `null`: there is none. */
  get last(): { readonly root: string; readonly complete: boolean } | null {
    return this.state.staged.at(-1)?.captured ?? this.state.base;
  }

  /** Bytes of all files of staged objects. */
  get bytes(): number {
    return this.state.staged.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  has(id: string): boolean {
    return this.state.base?.id === id || this.state.staged.some(({ captured }) => captured.id === id);
  }

  fileOf(id: string): string {
    return path.join(this.directory, `${id}.objects`);
  }

  /** Where the objects of a checkpoint are written before `add`. */
  async draftOf(id: string): Promise<string> {
    await mkdir(this.directory, { recursive: true });
    return `${this.fileOf(id)}.draft`;
  }

  /** @param follows `false`: its objects are all that it needs, and those before it are given up. */
  add(captured: CapturedCheckpoint, bytes: number, follows: boolean): Promise<void> {
    return this.change(async (before) => {
      await rename(`${this.fileOf(captured.id)}.draft`, this.fileOf(captured.id));
      await this.write(
        follows
          ? { ...before, staged: [...before.staged, { captured, bytes }] }
          : { base: null, staged: [{ captured, bytes }] },
      );
      if (!follows) await this.remove(before.staged);
    });
  }

  /** Those up to `id` are durable. @returns false when it is none of them: the chain is another one. */
  settle(id: string): Promise<boolean> {
    return this.change(async (before) => {
      if (before.base?.id === id) return true;
      const at = before.staged.findIndex(({ captured }) => captured.id === id);
      const durable = before.staged[at];
      if (durable === undefined) return false;
      const { root, complete } = durable.captured;
      await this.write({ base: { id, root, complete }, staged: before.staged.slice(at + 1) });
      await this.remove(before.staged.slice(0, at + 1));
      return true;
    });
  }

  /** Begins anew, after a checkpoint that the workspace was made from, or with nothing. */
  restart(base: { readonly id: string; readonly root: string } | null): Promise<void> {
    return this.change(async (before) => {
      await this.write({ base: base === null ? null : { ...base, complete: true }, staged: [] });
      await this.remove(before.staged);
    });
  }

  /** A transfer settles what is durable while a capture adds to it: neither may undo the other. */
  private change<T>(work: (before: Written) => Promise<T>): Promise<T> {
    const result = this.turn.then(() => work(this.state));
    this.turn = result.catch(() => {});
    return result;
  }

  private async write(state: Written): Promise<void> {
    await mkdir(this.directory, { recursive: true });
    const file = path.join(this.directory, 'chain.json');
    await writeFile(`${file}.draft`, JSON.stringify(state));
    await rename(`${file}.draft`, file);
    this.state = state;
  }

  private async remove(staged: readonly Staged[]): Promise<void> {
    for (const { captured } of staged) await rm(this.fileOf(captured.id), { force: true });
  }
}
