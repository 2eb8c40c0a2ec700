import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { zstdDecompressSync } from 'node:zlib';

/** Unpacks an image's layers over each other, with a tar that is not ours. Its `Env` is what a container starts with. */
export class UnpackedImage {
  readonly folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-unpacked-'));
  readonly root = path.join(this.folder, 'root');
  readonly env: Readonly<Record<string, string>>;

  constructor(archive: string) {
    const layout = path.join(this.folder, 'layout');
    for (const folder of [this.root, layout]) mkdirSync(folder);
    const tar = (...args: string[]): unknown => execFileSync('tar', args, { timeout: 120_000 });
    const json = (digest: string): unknown => JSON.parse(readFileSync(path.join(layout, 'blobs', ...digest.split(':')), 'utf8'));
    tar('-xf', archive, '-C', layout);
    const index = JSON.parse(readFileSync(path.join(layout, 'index.json'), 'utf8')) as { manifests: { digest: string }[] };
    const manifest = json(index.manifests[0]!.digest) as { config: { digest: string }; layers: { digest: string }[] };
    for (const { digest } of manifest.layers) {
      const input = zstdDecompressSync(readFileSync(path.join(layout, 'blobs', ...digest.split(':'))));
      execFileSync('tar', ['-xp', '-C', this.root, '--numeric-owner'], { input, timeout: 120_000 });
    }
    const { config } = json(manifest.config.digest) as { config: { Env: string[] } };
    rmSync(layout, { recursive: true });
    this.env = Object.fromEntries(config.Env.map((pair) => pair.split(/=(.*)/s, 2)));
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
