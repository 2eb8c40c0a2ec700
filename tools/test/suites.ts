import { existsSync, globSync } from 'node:fs';
import path from 'node:path';

export interface Suite {
  readonly name: string;
  readonly cwd: string;
  /**
   * Where the sources of its tests are, in `cwd`; `src` is compiled to `dist` where `compiled` says so, everything else
   * runs by type stripping.
   */
  readonly folder: string;
  readonly compiled: boolean;
  /** Sources, in `cwd`. */
  readonly files: readonly string[];
  /**
   * What may run at the same time: `any`; `waiting`, a suite that waits more than it works, beside a `light` one;
   * nothing with `alone`, which kills or replaces processes under load, or measures time.
   */
  readonly beside: 'any' | 'waiting' | 'light' | 'alone';
  /** Whether its files share something, so that they run one after the other. */
  readonly serial: boolean;
  /** Whether a file of it runs a program that takes minutes to build once (prepare.ts). */
  readonly built: boolean;
}

/** The clocks of a cluster are most of their time. */
const WAITING: ReadonlySet<string> = new Set(['tests/cluster', 'tests/install']);
/**
 * They leave half of two cores idle, and measure no time that a busy machine could miss: by a `stopwatch`, or the work
 * of a page's own thread. `tests/api-schema` takes as long as it is given, however fast the machine is.
 */
const LIGHT: ReadonlySet<string> = new Set([
  'tests/api-schema',
  'tests/datadog',
  'tests/e2e',
  'tests/egress',
  'tests/four-eyes',
  'tests/gitea',
  'tests/helm',
  'tests/identity',
  'tests/image',
  'tests/integrations',
  'tests/litellm',
  'tests/model-clients',
  'tests/openhands-sdk',
  'tests/operate',
  'tests/publish',
  'tests/stack',
]);

/** Files of these share a cluster, a built folder, or the roles of the one Postgres. */
const SERIAL: ReadonlySet<string> = new Set(['bench', 'libs/db', 'tests/cluster']);

/** Of the first stage; later ones begin when all is built. */
const BUILT: ReadonlySet<string> = new Set(['bench', 'libs/integrations']);

/** Every suite of the repository: one a project, compiled; then those that run from source by type stripping. */
export function findSuites(root: string): Suite[] {
  const projects = globSync('{libs,apps}/*/package.json', { cwd: root }).map(path.dirname).sort();
  const folders = globSync('tests/*/', { cwd: root }).map((folder) =>
    folder.replace(/[/\\]$/, '').replaceAll(path.sep, '/'),
  );
  return [
    // Next compiles apps/web for itself.
    ...projects.map((project) =>
      suite(root, project, 'src', project !== 'apps/web' && existsSync(path.join(root, project, 'tsconfig.json'))),
    ),
    ...['tools', 'bench', 'deploy', 'keycloak', ...folders.sort()].map((folder) => suite(root, folder, '.', false)),
  ].filter(({ files }) => files.length > 0);
}

/** What Node runs for a source of a test. */
export function runnableOf({ cwd, compiled }: Suite, source: string): string {
  return compiled
    ? path.join(
        cwd,
        path
          .relative(cwd, source)
          .replace(/^src/, 'dist')
          .replace(/\.tsx?$/, '.js'),
      )
    : source;
}

function suite(root: string, name: string, folder: string, compiled: boolean): Suite {
  const cwd = path.join(root, name);
  const files = globSync(path.join(folder, '**/*.test.{ts,tsx}'), {
    cwd,
    exclude: ['**/node_modules/**', '**/dist/**'],
  }).sort();
  return {
    name,
    cwd,
    folder,
    compiled,
    files,
    beside: besideOf(name),
    serial: SERIAL.has(name),
    built: BUILT.has(name),
  };
}

function besideOf(name: string): Suite['beside'] {
  if (WAITING.has(name)) return 'waiting';
  if (LIGHT.has(name)) return 'light';
  return name.startsWith('tests/') ? 'alone' : 'any';
}
