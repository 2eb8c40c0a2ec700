import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Library } from './checkpoints.js';

/** A line of the compiled library that is another one in a copy of it. */
export interface Defect {
  readonly file: string;
  readonly line: string;
  readonly instead: string;
}

/** The library with a defect, which the tests of its properties must find. @throws when the line is not there once. */
export async function withDefect<T = Library>({ file, line, instead }: Defect, entry = 'index.js'): Promise<T> {
  const dist = path.resolve(import.meta.dirname, '..');
  const folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-checkpoint-defect-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  cpSync(dist, path.join(folder, 'dist'), { recursive: true });
  writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}');
  symlinkSync(path.resolve(dist, '../../../node_modules'), path.join(folder, 'node_modules'));
  const changed = path.join(folder, 'dist', file);
  const parts = readFileSync(changed, 'utf8').split(line);
  if (parts.length !== 2) throw new Error(`${file} has the line ${parts.length - 1} times: ${line}`);
  writeFileSync(changed, parts.join(instead));
  return (await import(pathToFileURL(path.join(folder, 'dist', entry)).href)) as T;
}
