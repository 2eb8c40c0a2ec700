import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type UnpackedConfig, unpackArchive } from '../../deploy/images/unpack-archive.ts';

/** An image's files in a folder. Its `Env` is what a container starts with. */
export class UnpackedImage {
  readonly folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-unpacked-'));
  readonly root = path.join(this.folder, 'root');
  readonly env: Readonly<Record<string, string>>;
  readonly config: UnpackedConfig;

  /**
   * `under` holds the layers below the third already, unpacked on the same disk: those of every app. They are shared,
   * and seen read-only by containers.
   */
  constructor(archive: string, under?: string) {
    if (under === undefined) mkdirSync(this.root);
    else execFileSync('cp', ['-al', under, this.root], { timeout: 60_000 });
    this.config = unpackArchive(archive, this.root, (place) => under === undefined || place > 1);
    this.env = Object.fromEntries(this.config.Env.map((pair) => pair.split(/=(.*)/s, 2)));
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
