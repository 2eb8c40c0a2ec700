import { existsSync, globSync } from 'node:fs';
import path from 'node:path';

export interface Suite {
  readonly name: string;
  readonly cwd: string;
  readonly files: readonly string[];
  /**
   * What may run at the same time: `any`; `waiting`, a suite that waits more than it works, beside a `light` one; nothing with `alone`, which
   * starts whole stacks or measures time.
   */
  readonly beside: 'any' | 'waiting' | 'light' | 'alone';
}

/** The cluster's own clocks are most of its time. */
const WAITING: ReadonlySet<string> = new Set(['tests/cluster']);
/** Few processes at a time, and no time measured that a busy machine could miss. `tests/api-schema` takes as long as it is given, however fast the machine is. */
const LIGHT: ReadonlySet<string> = new Set([
  'tests/api-schema',
  'tests/datadog',
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
]);

/** Begun first, the longest first, so that none of them is left alone at the end: each takes over four minutes, the others together no more than the first. */
const LONG: readonly string[] = ['apps/app-server', 'bench', 'apps/worker', 'apps/action-server', 'apps/runtime-api', 'apps/agent-server'];

/** For `sort`: the long ones, then the others as they stand. */
export function longestFirst(one: Suite, other: Suite): number {
  const place = ({ name }: Suite): number => (LONG.includes(name) ? LONG.indexOf(name) : LONG.length);
  return place(one) - place(other);
}

/** Every suite of the repository: one a project, compiled; then those that run from source by type stripping. */
export function findSuites(root: string): Suite[] {
  const projects = globSync('{libs,apps}/*/package.json', { cwd: root }).map(path.dirname).sort();
  return [
    ...projects.map((project) =>
      existsSync(path.join(root, project, 'tsconfig.json')) && project !== 'apps/web'
        ? compiled(root, project)
        : fromSource(root, project, 'src/**/*.test.ts', 'any'),
    ),
    fromSource(root, 'tools', '**/*.test.ts', 'any'),
    fromSource(root, 'bench', '**/*.test.ts', 'any'),
    fromSource(root, 'deploy', '**/*.test.ts', 'any'),
    fromSource(root, 'keycloak', '**/*.test.ts', 'any'),
    ...globSync('tests/*/', { cwd: root })
      .sort()
      .map((folder) => folder.replace(/[/\\]$/, '').replaceAll(path.sep, '/'))
      .map((folder) => fromSource(root, folder, '**/*.test.ts', WAITING.has(folder) ? 'waiting' : LIGHT.has(folder) ? 'light' : 'alone')),
  ].filter((suite) => suite.files.length > 0);
}

/** A test whose source is gone may still lie in `dist`. */
function compiled(root: string, project: string): Suite {
  const cwd = path.join(root, project);
  const files = globSync('src/**/*.test.{ts,tsx}', { cwd }).map((file) => file.replace(/^src/, 'dist').replace(/\.tsx?$/, '.js'));
  return { name: project, cwd, files: files.sort(), beside: 'any' };
}

function fromSource(root: string, folder: string, pattern: string, beside: Suite['beside']): Suite {
  const cwd = path.join(root, folder);
  return { name: folder, cwd, files: existsSync(cwd) ? globSync(pattern, { cwd, exclude: ['**/node_modules/**'] }).sort() : [], beside };
}
