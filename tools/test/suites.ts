import { existsSync, globSync } from 'node:fs';
import path from 'node:path';

export interface Suite {
  readonly name: string;
  readonly cwd: string;
  readonly files: readonly string[];
  /** Runs with nothing beside it: it starts whole stacks, or measures time. */
  readonly alone: boolean;
}

/** Every suite of the repository: one a project, compiled; then those that run from source by type stripping. */
export function findSuites(root: string): Suite[] {
  const projects = globSync('{libs,apps}/*/package.json', { cwd: root }).map(path.dirname).sort();
  return [
    ...projects.map((project) =>
      existsSync(path.join(root, project, 'tsconfig.json')) && project !== 'apps/web'
        ? compiled(root, project)
        : fromSource(root, project, 'src/**/*.test.ts', false),
    ),
    fromSource(root, 'tools', '**/*.test.ts', false),
    fromSource(root, 'bench', '**/*.test.ts', false),
    fromSource(root, 'deploy', '**/*.test.ts', false),
    fromSource(root, 'keycloak', '**/*.test.ts', false),
    ...globSync('tests/*/', { cwd: root })
      .sort()
      .map((folder) => fromSource(root, folder.replace(/[/\\]$/, ''), '**/*.test.ts', true)),
  ].filter((suite) => suite.files.length > 0);
}

/** A test whose source is gone may still lie in `dist`. */
function compiled(root: string, project: string): Suite {
  const cwd = path.join(root, project);
  const files = globSync('src/**/*.test.{ts,tsx}', { cwd }).map((file) => file.replace(/^src/, 'dist').replace(/\.tsx?$/, '.js'));
  return { name: project, cwd, files: files.sort(), alone: false };
}

function fromSource(root: string, folder: string, pattern: string, alone: boolean): Suite {
  const cwd = path.join(root, folder);
  return { name: folder, cwd, files: existsSync(cwd) ? globSync(pattern, { cwd, exclude: ['**/node_modules/**'] }).sort() : [], alone };
}
