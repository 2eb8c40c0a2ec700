import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { QUICK } from './quick.ts';

export interface Restic {
  backup(): void;
  /** The newest backup, into an empty folder. */
  restore(target: string): void;
}

/** A repository of restic in a folder, on one core as a sandbox has; `null` when there is no restic on the PATH. */
export function resticOf(folder: string, project: string): Restic | null {
  const env = {
    ...process.env,
    RESTIC_PASSWORD: 'bench',
    RESTIC_REPOSITORY: path.join(folder, 'restic'),
    RESTIC_CACHE_DIR: path.join(folder, 'restic-cache'),
    GOMAXPROCS: '1',
  };
  const restic = (...argv: string[]): void =>
    void execFileSync('restic', ['-q', ...argv], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  if (QUICK) return null;
  try {
    restic('init');
  } catch {
    return null;
  }
  return {
    backup: () => restic('backup', project),
    restore: (target) => restic('restore', 'latest', '--target', target),
  };
}
