import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { extract } from 'tar-stream';
import { imageCacheFolder } from '../../layer-cache.ts';
import { fetchPackage } from '../../npm-package.ts';

/** What is preloaded: `preload.mjs`, what it reads, and the packages below `node_modules`. */
const OWN = ['preload.mjs', 'settings.mjs'] as const;
const LIST = path.join(import.meta.dirname, 'packages.json');
/** Types, and the tracers for what is no service: nothing of it is read at run time. */
const LEFT_OUT = /\.(d\.ts|d\.mts|d\.cts|map|md|ts)$|^package\/ci\/|(^|\/)(test|tests|benchmark)\//;

interface Pinned {
  readonly name: string;
  readonly version: string;
  readonly integrity: string;
}

/**
 * dd-trace and what it needs, without its optional native packages, in a folder of the cache: what an image has in
 * /opt/slipway/datadog. Whole or absent, and named by what is in it. @throws Error when the registry gives something
 * else than packages.json names.
 */
export async function datadogFolder(signal: AbortSignal, cache = imageCacheFolder()): Promise<string> {
  const [list, ...own] = await Promise.all(
    [LIST, ...OWN.map((name) => path.join(import.meta.dirname, name))].map((file) => readFile(file)),
  );
  const key = createHash('sha256')
    .update(JSON.stringify([list, ...own].map((content) => content?.toString('base64'))))
    .digest('hex');
  const place = path.join(cache, 'datadog', key.slice(0, 20));
  if (existsSync(place)) {
    // As layers of the cache are: unused ones are removed.
    const now = new Date();
    await utimes(place, now, now);
    return place;
  }
  await mkdir(path.dirname(place), { recursive: true });
  const draft = await mkdtemp(`${place}-`);
  try {
    for (const pinned of JSON.parse(String(list)) as Pinned[])
      await unpack(
        await fetchPackage(pinned, path.join(cache, 'npm'), signal),
        path.join(draft, 'node_modules', pinned.name),
      );
    for (const name of OWN) await cp(path.join(import.meta.dirname, name), path.join(draft, name));
    await rename(draft, place).catch((error: NodeJS.ErrnoException) => {
      // Another build was as fast; its folder is the same.
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
    return place;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Folders of the packages in it. */
export function datadogPackages(folder: string): string[] {
  return (JSON.parse(readFileSync(LIST, 'utf8')) as Pinned[]).map(({ name }) =>
    path.join(folder, 'node_modules', name),
  );
}

async function unpack(archive: Buffer, target: string): Promise<void> {
  const reader = extract();
  const read = new Promise<void>((resolve, reject) => reader.once('finish', resolve).once('error', reject));
  reader.end(gunzipSync(archive));
  for await (const entry of reader) {
    const { name, type } = entry.header;
    const at = path.join(target, name.replace(/^[^/]+\//, ''));
    const chunks: Buffer[] = [];
    for await (const chunk of entry) chunks.push(chunk as Buffer);
    if (type !== 'file' || LEFT_OUT.test(name) || !at.startsWith(`${target}${path.sep}`)) continue;
    await mkdir(path.dirname(at), { recursive: true });
    await writeFile(at, Buffer.concat(chunks), { mode: 0o644 });
  }
  await read;
}
