import { contentIdOf } from '../objects/content-id.js';
import { matcherOf } from './glob.js';

/** What a checkpoint holds, beside the built-in list. Parsed by the caller; patterns as in `matcherOf`. */
export interface PolicyRules {
  /** Lifts caches and heavy folders into the kept class, and wins over `exclude`. */
  readonly include: readonly string[];
  /** Never captured, and left alone by every restore. */
  readonly exclude: readonly string[];
  /** Folders that are heavy though their name is not on the built-in list: ignored and large. */
  readonly heavy: readonly string[];
  /** Files that take more bytes on disk are not captured. */
  readonly maxFileBytes: number;
}

export const DEFAULT_RULES: PolicyRules = { include: [], exclude: [], heavy: [], maxFileBytes: 4 * 2 ** 30 };

/** Begins the temporary names of a restore. A later restore removes those that it finds in its way. */
export const TEMPORARY = '.slipway-restore-';

/** Made anew by package managers and builds: captured by generation. */
const HEAVY = new Set([
  'node_modules',
  'bower_components',
  '.venv',
  'venv',
  'target',
  '.next',
  '.nuxt',
  '.svelte-kit',
  '.tox',
  '.nox',
  '.gradle',
  '.terraform',
]);
const CACHE_NAMES = ['.cache', '.pnpm-store', '.npm', '.vscode-server', '.vscode-server-oss', '.ccache'];
const CACHE_PATHS = [
  'home/.bun/install/cache',
  'home/.cargo/git',
  'home/.cargo/registry',
  'home/.gradle/caches',
  'home/.local/share/pnpm/store',
  'home/.local/share/uv',
  'home/.m2/repository',
  'home/.yarn/berry/cache',
  'home/go/pkg/mod',
  'home/tmp',
];
/** Raised when the lists above change: part of the policy's hash. */
const BUILT_IN = 1;

export type PathClass = 'kept' | 'heavy' | 'cache' | 'excluded' | 'lock';

export interface Policy {
  /** @param path bytes, one a character, root name included. */
  classOf(path: string, name: string, isFolder: boolean): PathClass;
  readonly maxFileBytes: number;
  /** Of all rules with the built-in list: kept in `meta`. */
  readonly hash: string;
}

export function policyOf(rules: PolicyRules): Policy {
  const include = matcherOf(rules.include);
  const exclude = matcherOf(rules.exclude);
  const heavy = matcherOf(rules.heavy);
  const cache = matcherOf([...CACHE_NAMES, ...CACHE_PATHS]);
  const only = { include: rules.include, exclude: rules.exclude, heavy: rules.heavy, max: rules.maxFileBytes };
  return {
    classOf(path, name, isFolder) {
      // A lock of git belongs to a process that a restored sandbox does not have.
      if (!isFolder && name.endsWith('.lock') && path.includes('/.git/')) return 'lock';
      if (name.startsWith(TEMPORARY)) return 'excluded';
      if (include(path)) return 'kept';
      if (exclude(path)) return 'excluded';
      if (isFolder && cache(path)) return 'cache';
      return isFolder && (HEAVY.has(name) || heavy(path)) && !path.includes('/.git/') ? 'heavy' : 'kept';
    },
    maxFileBytes: rules.maxFileBytes,
    hash: contentIdOf(Buffer.from(JSON.stringify([BUILT_IN, only]))),
  };
}
