import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const IDENTITY = ['-c', 'user.name=Git host', '-c', 'user.email=host@example.test', '-c', 'commit.gpgsign=false'];

export interface TreeEntry {
  readonly id: string;
  readonly name: string;
  readonly type: 'tree' | 'blob';
}

export interface ListedCommit {
  readonly sha: string;
  /** When it was committed, as ISO 8601 has it. */
  readonly at: string;
  readonly authorEmail: string;
  readonly parents: readonly string[];
  readonly message: string;
}

/** A bare repository as the server itself works on it. */
export class BareRepository {
  constructor(readonly folder: string) {}

  static async make(folder: string, files: Readonly<Record<string, string>>): Promise<BareRepository> {
    await mkdir(folder, { recursive: true });
    await run('git', ['init', '-q', '--bare', '-b', 'main', folder]);
    const made = new BareRepository(folder);
    await made.commit({ message: 'Begin', files, branch: 'main' });
    return made;
  }

  private async git(...args: string[]): Promise<string> {
    return (
      await run('git', [...IDENTITY, '--git-dir', this.folder, ...args], { maxBuffer: 64 * 1024 * 1024 })
    ).stdout.trim();
  }

  /** `null`: git says no. */
  private asked(...args: string[]): Promise<string | null> {
    return this.git(...args).catch(() => null);
  }

  async branches(): Promise<ReadonlyMap<string, string>> {
    const lines = (await this.git('for-each-ref', '--format=%(refname:strip=2) %(objectname)', 'refs/heads'))
      .split('\n')
      .filter(Boolean);
    return new Map(lines.map((line) => line.split(' ') as [string, string]));
  }

  commitOf(ref: string): Promise<string | null> {
    return this.asked('rev-parse', '--verify', '-q', `${ref}^{commit}`);
  }

  mergeBase(one: string, other: string): Promise<string | null> {
    return this.asked('merge-base', one, other);
  }

  /** `null`: no such file. */
  blob(hash: string): Promise<string | null> {
    return this.asked('cat-file', 'blob', hash);
  }

  /** `null`: no such folder. */
  async tree(commit: string, folder: string): Promise<readonly TreeEntry[] | null> {
    const said = await this.asked('ls-tree', '-z', `${commit}:${folder}`);
    if (said === null) return null;
    return said
      .split('\0')
      .filter(Boolean)
      .map((line) => {
        const [, type, id, name] = /^\d+ (\w+) (\w+)\t(.*)$/s.exec(line) as unknown as [
          string,
          'tree' | 'blob',
          string,
          string,
        ];
        return { id, name, type };
      });
  }

  async log(ref: string): Promise<
    ReadonlyArray<{
      readonly sha: string;
      readonly message: string;
      readonly authorName: string;
      readonly authorEmail: string;
    }>
  > {
    const said = await this.git('log', '-50', '--format=%H%x00%an%x00%ae%x00%B%x01', ref);
    return said
      .split('\x01')
      .map((each) => each.trim())
      .filter(Boolean)
      .map((each) => {
        const [sha = '', authorName = '', authorEmail = '', message = ''] = each.split('\0');
        return { sha, authorName, authorEmail, message: message.trim() };
      });
  }

  /** The newest first. @param range a branch, or `from..to`. @param path only commits that touch it. */
  async history(range: string, path: string | null = null): Promise<readonly ListedCommit[]> {
    const said = await this.git(
      'log',
      '--format=%H%x00%cI%x00%ae%x00%P%x00%B%x01',
      range,
      ...(path === null ? [] : ['--', path]),
    );
    return said
      .split('\x01')
      .map((each) => each.trim())
      .filter(Boolean)
      .map((each) => {
        const [sha = '', at = '', authorEmail = '', parents = '', message = ''] = each.split('\0');
        return { sha, at, authorEmail, parents: parents.split(' ').filter(Boolean), message: message.trim() };
      });
  }

  async changedFiles(base: string, head: string): Promise<readonly string[]> {
    return (await this.git('diff', '--name-only', `${base}...${head}`)).split('\n').filter(Boolean);
  }

  /** Makes or replaces files in one commit. @param newBranch made from `branch` for it. @returns its hash. */
  async commit(made: {
    readonly message: string;
    readonly files: Readonly<Record<string, string>>;
    readonly branch: string;
    readonly newBranch?: string;
    /** When it was committed [now]. */
    readonly at?: Date;
  }): Promise<string> {
    const work = await mkdtemp(path.join(os.tmpdir(), 'slipway-bare-'));
    try {
      const from = await this.commitOf(`refs/heads/${made.branch}`);
      const inWork = (...args: string[]): Promise<unknown> => run('git', [...IDENTITY, '-C', work, ...args]);
      if (from === null) await inWork('init', '-q', '-b', made.branch);
      else await run('git', ['clone', '-q', '-b', made.branch, this.folder, work]);
      for (const [name, text] of Object.entries(made.files)) {
        await mkdir(path.dirname(path.join(work, name)), { recursive: true });
        await writeFile(path.join(work, name), text);
      }
      await inWork('add', '-A');
      const env = made.at === undefined ? process.env : { ...process.env, GIT_COMMITTER_DATE: made.at.toISOString() };
      await run('git', [...IDENTITY, '-C', work, 'commit', '-q', '--allow-empty', '-m', made.message], { env });
      await inWork('push', '-q', this.folder, `HEAD:refs/heads/${made.newBranch ?? made.branch}`);
      return (await run('git', ['-C', work, 'rev-parse', 'HEAD'])).stdout.trim();
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  }

  /** The tree of both; `null`: they are in conflict. */
  mergedTree(base: string, head: string): Promise<string | null> {
    return this.asked('merge-tree', '--write-tree', base, head);
  }

  /** @returns the merge commit, to which the branch has moved. */
  async merge(
    branch: string,
    { base, head, tree }: { readonly base: string; readonly head: string; readonly tree: string },
  ): Promise<string> {
    const made = await this.git('commit-tree', tree, '-p', base, '-p', head, '-m', 'Merge');
    await this.git('update-ref', `refs/heads/${branch}`, made, base);
    return made;
  }
}
