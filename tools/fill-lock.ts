// Repairs package-lock.json: `node tools/fill-lock.ts [--check]`. CONTRIBUTING.md says why. A registry mirror may miss
// packages of other platforms. npm then leaves them out of the lockfile that it writes, and `npm ci` refuses that
// lockfile ("Missing: X@ from lock file"). Each gets an entry here with its version and, from its name, its platform;
// addresses of one registry are taken out, so that the lockfile works with any.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

interface Entry {
  version?: string;
  resolved?: string;
  integrity?: string;
  link?: boolean;
  optional?: boolean;
  dev?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
}
interface Lock {
  packages: Record<string, Entry>;
}

const file = path.resolve(import.meta.dirname, '../package-lock.json');

/** Entry of a dependency as Node would find it from `from`, or `undefined`. */
export function lookUp(packages: Readonly<Record<string, Entry>>, from: string, name: string): string | undefined {
  for (
    let folder = from;
    ;
    folder = folder.includes('/node_modules/') ? folder.slice(0, folder.lastIndexOf('/node_modules/')) : ''
  ) {
    const key = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    if (packages[key] !== undefined) return key;
    if (folder === '') return undefined;
  }
}

/** The platform that a package of binaries is for, read from its name; `undefined` when the name says none. */
export function platformOf(name: string): Pick<Entry, 'os' | 'cpu' | 'libc'> | undefined {
  const os =
    /(android|darwin|freebsd|openbsd|netbsd|sunos|aix|win32|openharmony|linux)/.exec(name)?.[1] ??
    (/(^|[-/])win-/.test(name) ? 'win32' : /windows/.test(name) ? 'win32' : undefined);
  const cpu =
    /(arm64|x64|ia32|ppc64|s390x|riscv64|loong64|mips64el|wasm32)/.exec(name)?.[1] ??
    (/arm/.test(name) ? 'arm' : /ppc/.test(name) ? 'ppc64' : undefined);
  if (os === undefined || cpu === undefined) return undefined;
  return {
    os: [os],
    cpu: [cpu],
    ...(/musl/.test(name) ? { libc: ['musl'] } : os === 'linux' ? { libc: ['glibc'] } : {}),
  };
}

/** The repaired lockfile, and what was wrong with the given one. */
export function repair(lock: Lock): { lock: Lock; problems: string[] } {
  const problems: string[] = [];
  const packages: Record<string, Entry> = structuredClone(lock.packages);
  for (const [from, entry] of Object.entries(lock.packages)) {
    for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
      const at = lookUp(packages, from, name);
      const exact = /^\d/.test(range);
      if (at !== undefined && (!exact || packages[at]?.version === range)) continue;
      const platform = platformOf(name);
      // Without a platform npm would try to install it here.
      if (platform === undefined) continue;
      const key = at === undefined ? `node_modules/${name}` : `${from}/node_modules/${name}`;
      packages[key] = {
        version: range.replace(/^[\^~=v]+/, ''),
        optional: true,
        ...platform,
        ...(entry.dev ? { dev: true } : {}),
      };
      problems.push(`${key} is missing`);
    }
  }
  for (const [key, entry] of Object.entries(packages)) {
    if (entry.link === true || entry.resolved === undefined || !/^https?:/.test(entry.resolved)) continue;
    delete entry.resolved;
    problems.push(`${key} names a registry`);
  }
  const sorted = Object.fromEntries(Object.entries(packages).sort(([a], [b]) => a.localeCompare(b, 'en')));
  return { lock: { ...lock, packages: sorted }, problems };
}

if (import.meta.filename === process.argv[1]) {
  const { lock, problems } = repair(JSON.parse(readFileSync(file, 'utf8')) as Lock);
  if (process.argv.includes('--check')) {
    if (problems.length > 0)
      console.log(`${problems.slice(0, 10).join('\n')}\n${problems.length} problems: run \`node tools/fill-lock.ts\``);
    process.exit(problems.length === 0 ? 0 : 1);
  }
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
  console.log(`repaired ${problems.length} entries`);
}
