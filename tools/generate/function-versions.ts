import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type FunctionVersion, hashOf, SCHEMAS, VERSIONS_FILE } from '../../libs/db/dist/migrate/index.js';
import type { GeneratedFile } from './generated-file.ts';

/**
 * `prisma/<schema>/functions/versions.json`: of each function the time at which its text was last changed, and the hash
 * by which that is seen. A database keeps the version that it has, so that an older image never puts its own text in
 * the place of a newer one.
 *
 * @param now the version of whatever has changed; later than every version there is.
 */
export function functionVersions(root: string, now: Date): GeneratedFile[] {
  const time = now.toISOString().replaceAll(/\D/g, '').slice(0, 14);
  return SCHEMAS.map((schema) => {
    const folder = `prisma/${schema}/functions`;
    const file = path.join(folder, VERSIONS_FILE);
    const before = existsSync(path.join(root, file))
      ? (JSON.parse(readFileSync(path.join(root, file), 'utf8')) as Record<string, FunctionVersion>)
      : {};
    const lines = globSync('*.sql', { cwd: path.join(root, folder) })
      .sort()
      .map((name) => {
        const key = path.basename(name, '.sql');
        const sha256 = hashOf(readFileSync(path.join(root, folder, name), 'utf8'));
        return `  ${JSON.stringify(key)}: ${JSON.stringify(versionOf(before[key], sha256, time))}`;
      });
    return { path: file, content: `{\n${lines.join(',\n')}\n}\n` };
  });
}

/** A clock that is behind must not make a newer text seem older. */
function versionOf(before: FunctionVersion | undefined, sha256: string, time: string): FunctionVersion {
  if (before?.sha256 === sha256) return { version: before.version, sha256 };
  const version = before !== undefined && before.version >= time ? String(BigInt(before.version) + 1n) : time;
  return { version, sha256 };
}
