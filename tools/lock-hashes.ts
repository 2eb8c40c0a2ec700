// `node tools/lock-hashes.ts [--fill]`: lists the packages that package-lock.json has no hash of, or asks the registry
// for them. Exits with 1 while one is missing. For a machine with a full registry
// (.github/workflows/supply-chain.yaml); a mirror may miss packages of other platforms.
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { type UnhashedPackage, unhashedPackages } from './unhashed-packages.mjs';

const file = path.resolve(import.meta.dirname, '../package-lock.json');

/** Answers a package's hash in npm's form (`sha512-…`), or `null` when the registry has no such version. */
export type ReadHash = (name: string, version: string) => Promise<string | null>;

/** Writes what the registry has into the lockfile. @returns those missing there. */
export async function fillHashes(lockFile: string, read: ReadHash): Promise<UnhashedPackage[]> {
  const lock = JSON.parse(readFileSync(lockFile, 'utf8')) as { packages: Record<string, { integrity?: string }> };
  const missing: UnhashedPackage[] = [];
  for (const unhashed of unhashedPackages(lockFile)) {
    const hash = await read(unhashed.name, unhashed.version);
    const entry = lock.packages[unhashed.key];
    if (hash === null || entry === undefined) missing.push(unhashed);
    else entry.integrity = hash;
  }
  writeFileSync(lockFile, `${JSON.stringify(lock, null, 2)}\n`);
  return missing;
}

/** Longest wait for one answer of the registry. Milliseconds. */
const TIMEOUT_MS = 60_000;

const ofRegistry: ReadHash = async (name, version) => {
  const { stdout } = await promisify(execFile)('npm', ['view', `${name}@${version}`, 'dist.integrity', '--json'], {
    timeout: TIMEOUT_MS,
  }).catch(() => ({
    stdout: '',
  }));
  const hash: unknown = stdout.trim() === '' ? null : JSON.parse(stdout);
  return typeof hash === 'string' && /^sha(?:384|512)-/.test(hash) ? hash : null;
};

if (import.meta.filename === process.argv[1]) {
  const missing = process.argv.includes('--fill') ? await fillHashes(file, ofRegistry) : unhashedPackages(file);
  for (const { name, version } of missing) console.log(`${name}@${version} has no hash`);
  console.log(missing.length === 0 ? 'every package has a hash' : `${missing.length} packages have no hash`);
  process.exit(missing.length === 0 ? 0 : 1);
}
