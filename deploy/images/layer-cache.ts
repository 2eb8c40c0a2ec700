import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Layer } from './layer.ts';

/** Days that unused layers stay. An archive is as large as its layers together, and made of them in two seconds. */
const KEPT_DAYS = { layers: 14, archives: 1, datadog: 14 } as const;

/** Outside of the checkout, so that checkouts share it and `git clean` costs no download. */
export function imageCacheFolder(): string {
  const base = process.env['XDG_CACHE_HOME'];
  return path.join(
    base !== undefined && path.isAbsolute(base) ? base : path.join(os.homedir(), '.cache'),
    'slipway/images',
  );
}

/**
 * Layers and archives by what they are made of. Whole or absent: each is written aside and moved in. Two builds at once
 * cost work, not correctness.
 */
export class LayerCache {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** The layer of this key; made by `make`, which writes the blob to the file that it is given, when there is none. */
  async layer(
    key: string,
    make: (file: string) => Promise<Layer>,
  ): Promise<Layer & { readonly file: string; readonly made: boolean }> {
    const place = path.join(this.folder, 'layers', key);
    const made = await this.#once(place, async (folder) => {
      const layer = await make(path.join(folder, 'blob'));
      await writeFile(path.join(folder, 'layer.json'), JSON.stringify(layer));
    });
    const layer = JSON.parse(await readFile(path.join(place, 'layer.json'), 'utf8')) as Layer;
    return { ...layer, file: path.join(place, 'blob'), made };
  }

  /** The archive of this key; `make` answers its digest. */
  async archive(
    key: string,
    make: (file: string) => Promise<string>,
  ): Promise<{ readonly file: string; readonly digest: string; readonly made: boolean }> {
    const place = path.join(this.folder, 'archives', key);
    const made = await this.#once(place, async (folder) =>
      writeFile(path.join(folder, 'digest'), await make(path.join(folder, 'image.tar'))),
    );
    return { file: path.join(place, 'image.tar'), digest: await readFile(path.join(place, 'digest'), 'utf8'), made };
  }

  /** An empty folder for one build. The caller removes it. */
  async workFolder(): Promise<string> {
    await mkdir(this.folder, { recursive: true });
    return await mkdtemp(path.join(this.folder, 'work-'));
  }

  /**
   * Removes layers unused for this time, and what a killed build left. A packages' layer that is needed again costs a
   * minute.
   */
  async prune(now = Date.now()): Promise<void> {
    const old = async (place: string, days: number): Promise<void> => {
      const { mtimeMs } = await stat(place).catch(() => ({ mtimeMs: now }));
      if (now - mtimeMs > days * 86_400_000) await rm(place, { recursive: true, force: true });
    };
    for (const kind of ['layers', 'archives', 'datadog'] as const) {
      for (const name of await readdir(path.join(this.folder, kind)).catch(() => []))
        await old(path.join(this.folder, kind, name), KEPT_DAYS[kind]);
    }
    for (const name of await readdir(this.folder).catch(() => []))
      if (name.startsWith('work-')) await old(path.join(this.folder, name), 1);
  }

  async #once(place: string, fill: (folder: string) => Promise<void>): Promise<boolean> {
    if (existsSync(place)) {
      const now = new Date();
      await utimes(place, now, now);
      return false;
    }
    const folder = await this.workFolder();
    try {
      await fill(folder);
      await mkdir(path.dirname(place), { recursive: true });
      await rename(folder, place).catch((error: NodeJS.ErrnoException) => {
        // Another build was as fast; its layer is the same.
        if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    return true;
  }
}
