import { cpSync, existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { fixKeys } from './fixed-keys.mjs';

/** `next build` leaves static files outside the standalone folder; the server looks for them inside. */
const root = path.join(import.meta.dirname, '..');
const standalone = path.join(root, '.next/standalone/apps/web');
cpSync(path.join(root, '.next/static'), path.join(standalone, '.next/static'), { recursive: true });
if (existsSync(path.join(root, 'public')))
  cpSync(path.join(root, 'public'), path.join(standalone, 'public'), { recursive: true });
fixKeys(path.join(standalone, '.next'));

/** Scripts and styles never change under their names: they are packed once and as far as it goes, for app-server. */
for (const file of globSync(path.join(standalone, '.next/static/**/*.{js,css}')))
  writeFileSync(`${file}.br`, brotliCompressSync(readFileSync(file)));
