import { createHash, randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mkdir, readdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { SlipwayError } from '@slipway/errors';
import { z } from 'zod';
import { fileError } from '../files/disk-space.js';
import { gitOutput } from './git.js';
import { searchRepositories } from './repositories.js';
import { type GitWorkspace, openRepository, type Repository } from './repository.js';
import { indexOfWorktree } from './worktree-index.js';

/** Most marks of users that are kept beside those of turns; the oldest make room. */
export const MAX_LOOKS = 16;
/** How the name of a mark begins that says what a user has looked at. */
const LOOK = 'look-';

/** Most that is kept for one turn of files that no commit holds, of all repositories together. Bytes. */
const MAX_KEPT_BYTES = 256 * 1024 * 1024;

const Mark = z.object({ tree: z.string(), large: z.record(z.string(), z.string()) });

/** What a repository held when a turn began. */
export interface TurnMark {
  readonly tree: string;
  /** Where what the tree holds beside the repository's own objects is kept. */
  readonly objects: string;
  /** Files that were too large to be read, by themselves or together, with their stamps. */
  readonly large: ReadonlyMap<string, string>;
}

/**
 * What each repository of the workspace held at the beginning of the last turn of each conversation: a tree, made
 * beside the repository. Neither its branches, index, HEAD nor objects know of it, so nothing of it is pushed, shown by
 * `git log --all`, or in the way of a lock. Files are as in the worktree, staged or not. A new turn takes the place of
 * the one before. What a user has looked at is remembered alike. Kept in the agent's home, where it has one that is
 * kept with the workspace: so a sandbox that was paused knows it again.
 */
export class TurnMarks {
  constructor(
    private readonly workspace: GitWorkspace,
    private readonly directory: string,
    private readonly lasting: 'kept' | 'until-the-end',
    private readonly maxKeptBytes = MAX_KEPT_BYTES,
  ) {}

  /**
   * Remembers all repositories as they are; an abort leaves the turn without a mark, never with an old one.
   * One that cannot be read is left out. @returns how many are remembered.
   */
  async mark(turn: string, signal: AbortSignal): Promise<{ marked: number }> {
    const place = path.join(this.directory, turn);
    await rm(place, { recursive: true, force: true });
    await mkdir(place, { recursive: true }).catch((error: unknown) => Promise.reject(fileError(error, place)));
    if (turn.startsWith(LOOK)) await this.dropLooks();
    let [marked, room] = [0, this.maxKeptBytes];
    for (const found of (await searchRepositories(this.workspace, '.', signal)).repositories) {
      if (found.problem !== null) continue;
      await this.markOne(place, found.path, room, signal).then(
        (read) => {
          marked += 1;
          room -= read;
        },
        () => signal.throwIfAborted(),
      );
    }
    return { marked };
  }

  /** @throws SlipwayError `changes.turn-unknown`. */
  async of(turn: string, { root }: Repository): Promise<TurnMark> {
    const folder = path.join(this.directory, turn, await this.nameOf(root));
    const text = await readFile(path.join(folder, 'mark.json'), 'utf8').catch(() => null);
    if (text === null)
      throw new SlipwayError(
        'changes.turn-unknown',
        'What this repository held when the last message came is not known: the sandbox, or the repository, is newer, or it was deleted.',
      );
    const { tree, large } = Mark.parse(JSON.parse(text));
    return { tree, objects: path.join(folder, 'objects'), large: new Map(Object.entries(large)) };
  }

  /** At the end of this process. */
  close(): void {
    if (this.lasting === 'until-the-end') rmSync(this.directory, { recursive: true, force: true });
  }

  /** Gives up all turns: what the agent has made needs the room. */
  async forget(): Promise<void> {
    await rm(this.directory, { recursive: true, force: true });
  }

  /** @returns the bytes of files that were read. */
  private async markOne(place: string, wanted: string, maxReadBytes: number, signal: AbortSignal): Promise<number> {
    const repository = await openRepository(this.workspace, wanted, signal);
    const draft = path.join(place, `draft-${randomUUID()}`);
    const { env, large, readBytes, dispose } = await indexOfWorktree(repository, { folder: draft, maxReadBytes });
    try {
      const tree = (await gitOutput(['write-tree', '--missing-ok'], { cwd: repository.root, signal, env }))
        .toString()
        .trim();
      const stamps = Object.fromEntries(large.map((file) => [file.path, file.stamp]));
      await writeFile(path.join(draft, 'mark.json'), JSON.stringify({ tree, large: stamps }));
      await rm(path.join(draft, 'index'), { force: true });
      await rename(draft, path.join(place, await this.nameOf(repository.root)));
      return readBytes;
    } catch (error) {
      await dispose();
      throw error;
    }
  }

  private async dropLooks(): Promise<void> {
    const names = (await readdir(this.directory)).filter((name) => name.startsWith(LOOK));
    if (names.length <= MAX_LOOKS) return;
    const looks = await Promise.all(
      names.map(async (name) => ({ name, at: (await stat(path.join(this.directory, name))).mtimeMs })),
    );
    looks.sort((one, other) => other.at - one.at || (one.name < other.name ? -1 : 1));
    for (const { name } of looks.slice(MAX_LOOKS))
      await rm(path.join(this.directory, name), { recursive: true, force: true });
  }

  /** By its place in the workspace, which may itself be at another place in another sandbox. */
  private async nameOf(root: string): Promise<string> {
    const place = path.relative(await realpath(this.workspace.directory), root);
    return createHash('sha256').update(place).digest('hex').slice(0, 32);
  }
}
