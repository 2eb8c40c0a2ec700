import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../image-parts.ts';
import { entriesOf, type LayerEntry } from '../layer.ts';

const STANDALONE = path.join(ROOT, 'apps/web/.next/standalone');
/**
 * Source maps, and a library with native code that resizes images: Slipway's pages have none to resize
 * (`images.unoptimized`).
 */
const LEFT_OUT = /\.map$|^node_modules\/(sharp|@img|detect-libc|semver)(\/|$)/;
const TEXT = /\.(js|cjs|mjs|json)$/;

/**
 * What Next.js built, without the checkout's own path that it writes into some files. @throws Error when the pages are
 * not built.
 */
export async function webEntries(folder = STANDALONE): Promise<LayerEntry[]> {
  if (!existsSync(path.join(folder, 'apps/web/server.js')))
    throw new Error('apps/web is not built: run `npm run build`.');
  const entries: LayerEntry[] = [];
  for (const entry of await entriesOf(folder, '', { youngest: 0, owner: 0 })) {
    if (LEFT_OUT.test(entry.path)) continue;
    if (entry.kind === 'link')
      throw new Error(`${entry.path} of the built pages is a link to ${entry.target}; rebuild them.`);
    const mode = entry.kind === 'directory' ? 0o755 : entry.kind === 'symlink' ? 0o777 : 0o644;
    entries.push({
      ...(entry.kind === 'file' ? withoutRoot(entry) : entry),
      mode,
      path: path.posix.join('opt/slipway', entry.path),
    });
  }
  const start = Buffer.from("import './apps/web/server.js';\n");
  entries.push({
    kind: 'file',
    path: 'opt/slipway/server.js',
    mode: 0o644,
    uid: 0,
    gid: 0,
    mtime: 0,
    size: start.length,
    from: start,
  });
  return entries;
}

function withoutRoot<T extends LayerEntry & { readonly kind: 'file' }>(entry: T): T {
  if (!TEXT.test(entry.path) || typeof entry.from !== 'string') return entry;
  const content = readFileSync(entry.from);
  if (!content.includes(ROOT)) return entry;
  const from = Buffer.from(content.toString('utf8').replaceAll(ROOT, '/opt/slipway'));
  return { ...entry, from, size: from.length };
}
