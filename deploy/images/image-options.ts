import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type ImageLock, type LockedPackage, parsePackage } from './image-lock.ts';

/**
 * What a sandbox image may hold beside what every one does. Each has a list of what it asks for and a lock, in
 * sandbox/options.
 */
export const OPTION_NAMES = ['browser', 'ipython', 'vscode'] as const;
export type OptionName = (typeof OPTION_NAMES)[number];

export interface OptionLock {
  /** Debian's packages that the base does not have. */
  readonly packages: readonly LockedPackage[];
  /** A package of npm by its registry's hash; absent: it has none. */
  readonly npm?: { readonly name: string; readonly version: string; readonly integrity: string };
}

const FOLDER = path.join(import.meta.dirname, 'sandbox/options');

export function optionFile(name: OptionName, kind: 'list' | 'lock'): string {
  return path.join(FOLDER, `${name}.${kind}`);
}

/** `browser,ipython` → in order, each once. @throws Error that names what is none. */
export function readOptions(text: string): OptionName[] {
  const given = text.split(',').filter((name) => name !== '');
  const wrong = given.find((name) => !(OPTION_NAMES as readonly string[]).includes(name));
  if (wrong !== undefined) throw new Error(`\`${wrong}\` is no option of the image: ${OPTION_NAMES.join(', ')}.`);
  return OPTION_NAMES.filter((name) => given.includes(name));
}

/** What an option's list asks for: names of Debian's packages, and `npm NAME`. */
export function readList(name: OptionName): { readonly debian: readonly string[]; readonly npm: string | null } {
  const lines = readFileSync(optionFile(name, 'list'), 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  return {
    debian: lines.filter((line) => !line.startsWith('npm ')),
    npm: lines.find((line) => line.startsWith('npm '))?.slice('npm '.length) ?? null,
  };
}

/** @throws Error that names the line it does not understand. */
export function readLock(name: OptionName): OptionLock {
  const packages: LockedPackage[] = [];
  let npm: OptionLock['npm'];
  for (const line of readFileSync(optionFile(name, 'lock'), 'utf8').split('\n')) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const [kind = '', ...fields] = line.split(' ');
    const [packageName, version, integrity] = fields;
    if (kind === 'deb') packages.push(parsePackage(fields, `${name}.lock`));
    else if (kind === 'npm' && packageName && version && integrity) npm = { name: packageName, version, integrity };
    else throw new Error(`${name}.lock: invalid line: ${line}. Renew the locks: npm run image -- lock.`);
  }
  return { packages, ...(npm === undefined ? {} : { npm }) };
}

export function formatOptionLock({ packages, npm }: OptionLock): string {
  return [
    '# What this option adds to the sandbox image, to the byte. Written by `npm run image -- lock`; not by hand.',
    ...(npm === undefined ? [] : [`npm ${npm.name} ${npm.version} ${npm.integrity}`]),
    ...[...packages]
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map((one) => `deb ${one.name} ${one.version} ${one.architecture} ${one.sha256} ${one.size}`),
    '',
  ].join('\n');
}

/** The base's lock with the packages of the options; what two of them need is there once. */
export function lockWith(base: ImageLock, options: readonly OptionName[]): ImageLock {
  const packages = new Map(base.packages.map((one) => [one.name, one]));
  for (const option of options)
    for (const one of readLock(option).packages) if (!packages.has(one.name)) packages.set(one.name, one);
  return { ...base, packages: [...packages.values()] };
}
