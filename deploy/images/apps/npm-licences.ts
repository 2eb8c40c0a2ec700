import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../image-parts.ts';

/** One npm package of an image. */
export interface NpmPart {
  readonly name: string;
  readonly version: string;
  /** As its package.json says: an SPDX expression, mostly. */
  readonly licence: string;
  /** The texts that it carries, with the file's name. */
  readonly texts: readonly { readonly file: string; readonly text: string }[];
}

const LICENCE_FILE = /^(un)?(licen[cs]e|copying|notice)([.-].*)?$/i;

/**
 * The packages in these folders, relative to the checkout, each version once, by name. Folders without a name and a
 * version, such as one that says `"type"` only, are none.
 */
export function npmParts(folders: readonly string[]): NpmPart[] {
  const parts = new Map<string, NpmPart>();
  for (const folder of folders) {
    const at = path.resolve(ROOT, folder);
    const file = path.join(at, 'package.json');
    if (!existsSync(file)) continue;
    const { name, version, license, licenses } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    if (typeof name !== 'string' || typeof version !== 'string' || name.startsWith('@slipway/')) continue;
    const texts = readdirSync(at)
      .filter((entry) => LICENCE_FILE.test(entry) && statSync(path.join(at, entry)).isFile())
      .sort()
      .map((entry) => ({
        file: entry,
        text: readFileSync(path.join(at, entry), 'utf8').replaceAll('\r\n', '\n').trim(),
      }));
    parts.set(`${name}@${version}`, { name, version, licence: licenceOf(license ?? licenses), texts });
  }
  return [...parts.values()].sort((a, b) => (`${a.name}@${a.version}` < `${b.name}@${b.version}` ? -1 : 1));
}

/** package.json has had three forms of it. */
function licenceOf(field: unknown): string {
  if (typeof field === 'string') return field;
  if (Array.isArray(field)) return field.map(licenceOf).join(' OR ');
  const { type } = (field ?? {}) as { type?: unknown };
  return typeof type === 'string' ? type : 'NOASSERTION';
}

/** Every text, as licences ask of whoever passes the software on. */
export function licenceTexts(parts: readonly NpmPart[]): string {
  const rule = '='.repeat(100);
  const sections = parts.map(({ name, version, licence, texts }) =>
    [
      rule,
      `${name} ${version} (${licence})`,
      rule,
      ...(texts.length === 0
        ? [`The package carries no text of its licence; its package.json says ${licence}.`]
        : texts.map(({ text }) => text)),
      '',
    ].join('\n'),
  );
  return [
    'Software of others in this image, and what each asks to be passed on with it. Those of Debian are in /usr/share/doc/*/copyright, those of Node in',
    '/usr/share/doc/nodejs/LICENSE.',
    '',
    ...sections,
  ].join('\n');
}
