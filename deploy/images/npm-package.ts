import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { extract } from 'tar-stream';
import type { LayerEntry } from './layer.ts';
import { runCommand } from './run-command.ts';

const MINUTES = 60_000;
/** Manuals, of no use without a reader for them. */
const LEFT_OUT = /^package\/(docs|man)\//;

/** Newest version of a package of npm within `range`, with the hash that the registry states. */
export async function resolveNpm(
  name: string,
  range: string,
  signal: AbortSignal,
): Promise<{ version: string; integrity: string }> {
  const shown = await runCommand('npm', ['view', `${name}@${range}`, 'version', 'dist.integrity', '--json'], {
    timeout: 2 * MINUTES,
    signal,
  });
  const answer = JSON.parse(shown) as Record<string, string> | Record<string, string>[];
  const newest = Array.isArray(answer) ? answer.at(-1) : answer;
  const [version, integrity] = [newest?.['version'], newest?.['dist.integrity']];
  if (!version || !integrity) throw new Error(`npm knows no version of ${name} in ${range}.`);
  return { version, integrity };
}

/** npm itself, as entries below `prefix`. @throws Error when what the registry gave is not what the lock names. */
export async function npmEntries(
  npm: { readonly version: string; readonly integrity: string },
  cache: string,
  prefix: string,
  signal: AbortSignal,
): Promise<LayerEntry[]> {
  const archive = await fetchPackage({ ...npm, name: 'npm' }, cache, signal);
  const found: LayerEntry[] = [];
  const reader = extract();
  reader.on('entry', (header, stream, next) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk) => chunks.push(chunk as Buffer));
    stream.on('end', () => {
      const from = Buffer.concat(chunks);
      const name = header.name.replace(/^package\//, '');
      const executable = ((header.mode ?? 0) & 0o100) !== 0;
      if (header.type === 'file' && !LEFT_OUT.test(header.name))
        found.push({
          kind: 'file',
          path: `${prefix}/${name}`,
          mode: executable ? 0o755 : 0o644,
          uid: 0,
          gid: 0,
          mtime: 0,
          size: from.length,
          from,
        });
      next();
    });
  });
  await new Promise<void>((resolve, reject) => {
    reader.once('finish', resolve).once('error', reject);
    reader.end(gunzipSync(archive));
  });
  return found;
}

/** A package as the registry gives it out: a gzipped tar. @throws Error when it is not what the lock names. */
export async function fetchPackage(
  npm: { readonly name: string; readonly version: string; readonly integrity: string },
  cache: string,
  signal: AbortSignal,
): Promise<Buffer> {
  const [algorithm = '', expected = ''] = npm.integrity.split(/-(.*)/s);
  const file = path.join(cache, `${npm.name.replaceAll('/', '-')}-${npm.version}.tgz`);
  if (!existsSync(file)) {
    await mkdir(cache, { recursive: true });
    const incoming = await mkdtemp(path.join(cache, 'incoming-'));
    try {
      await runCommand('npm', ['pack', '--silent', `${npm.name}@${npm.version}`], {
        cwd: incoming,
        timeout: 5 * MINUTES,
        signal,
      });
      const [name] = await readdir(incoming);
      if (name === undefined) throw new Error(`npm pack left no archive of ${npm.name} ${npm.version}.`);
      await rename(path.join(incoming, name), file);
    } finally {
      await rm(incoming, { recursive: true, force: true });
    }
  }
  const archive = await readFile(file);
  if (createHash(algorithm).update(archive).digest('base64') === expected) return archive;
  await rm(file);
  throw new Error(
    `${npm.name} ${npm.version} from the registry differs from the lock: another ${algorithm}. Nothing was built; try again, or renew the lock.`,
  );
}
