import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { zstdDecompressSync } from 'node:zlib';

/** How a container of an image starts by default. */
export interface UnpackedConfig {
  readonly Env: readonly string[];
  readonly User: string;
  readonly Entrypoint?: readonly string[];
}

/**
 * Lays the layers of an archive of ours over each other in the folder `root`, with a tar that is not ours; only those
 * that `wanted` names by place, 0 the lowest.
 * @throws Error with what tar said.
 */
export function unpackArchive(
  archive: string,
  root: string,
  wanted: (place: number) => boolean = () => true,
): UnpackedConfig {
  const layout = mkdtempSync(path.join(os.tmpdir(), 'slipway-layout-'));
  const tar = (args: readonly string[], input?: Buffer): unknown =>
    execFileSync('tar', args, { timeout: 120_000, ...(input === undefined ? {} : { input }) });
  const blob = (digest: string): Buffer => readFileSync(path.join(layout, 'blobs', ...digest.split(':')));
  try {
    tar(['-xf', archive, '-C', layout]);
    const index = JSON.parse(readFileSync(path.join(layout, 'index.json'), 'utf8')) as {
      manifests: { digest: string }[];
    };
    const manifest = JSON.parse(blob(index.manifests[0]!.digest).toString()) as {
      config: { digest: string };
      layers: { digest: string }[];
    };
    for (const [place, { digest }] of manifest.layers.entries())
      if (wanted(place)) tar(['-xp', '-C', root, '--numeric-owner'], zstdDecompressSync(blob(digest)));
    return (JSON.parse(blob(manifest.config.digest).toString()) as { config: UnpackedConfig }).config;
  } finally {
    rmSync(layout, { recursive: true, force: true });
  }
}
