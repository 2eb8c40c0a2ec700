import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type AppImage, buildAppImage } from './app-image.ts';
import { APP_NAMES } from './apps/app-list.ts';
import { IMAGE_NAME, ROOT } from './image-parts.ts';
import { buildSandboxImage, type SandboxImage } from './sandbox-image.ts';

/** One image of an installation. */
export interface ListedImage {
  /** As the chart names it below `image.registry`: `slipway/worker:0.1.0`. */
  readonly name: string;
  /** What a pod names once the archive is imported as it is, without tag and digest: `slipway.local/sandbox`. */
  readonly imported: string;
  readonly digest: string;
  /** An OCI archive in the cache of images. */
  readonly archive: string;
  readonly isSandbox: boolean;
}

/** Makes what is not in the cache. The sandbox image is the last, without options. */
export async function everyImage(signal: AbortSignal): Promise<ListedImage[]> {
  const apps: AppImage[] = [];
  for (const app of APP_NAMES) apps.push(await buildAppImage(app, { signal }));
  return listed(apps, await buildSandboxImage({ signal }));
}

/** Pure, but for the version of package.json. */
export function listed(
  apps: readonly Pick<AppImage, 'reference' | 'digest' | 'archivePath'>[],
  sandbox: Pick<SandboxImage, 'digest' | 'archive'>,
): ListedImage[] {
  const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { version: string };
  return [
    ...apps.map(({ reference, digest, archivePath }) => ({
      name: reference,
      imported: reference.split(':')[0] ?? '',
      digest,
      archive: archivePath,
      isSandbox: false,
    })),
    {
      name: `slipway/sandbox:${version}`,
      imported: IMAGE_NAME,
      digest: sandbox.digest,
      archive: sandbox.archive,
      isSandbox: true,
    },
  ];
}
