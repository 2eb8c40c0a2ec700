import { existsSync } from 'node:fs';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { AppImage } from '../../deploy/images/app-image.ts';
import { ROOT } from '../../deploy/images/image-parts.ts';
import { openPreviousVersion } from '../rolling/previous-version.ts';

/** What its images are called, so that they are on a node beside this version's. */
const VERSION = '0.0.0';
/** What it deploys. */
const APPS = ['app-server', 'worker', 'runtime-api', 'llm-gateway', 'sandbox-gateway', 'web'] as const;

export interface PreviousRelease {
  /** The folder of its chart. */
  readonly chart: string;
  /** Flags of Helm that name its images. */
  readonly flags: readonly string[];
  readonly archives: readonly string[];
  /** Of the sandbox image. */
  readonly digest: string;
}

/**
 * Chart and images of the version before this one, made by its own code from its own code; its pages are this
 * version's.
 * @returns a sentence that says why there is none, when there is none.
 */
export async function openPreviousRelease(
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<PreviousRelease | string> {
  const previous = await openPreviousVersion(say);
  if (typeof previous === 'string') return previous;
  const { root } = previous;
  await versioned(path.join(root, 'package.json'));
  const pages = path.join(root, 'apps/web/.next');
  if (!existsSync(pages)) await symlink(path.join(ROOT, 'apps/web/.next'), pages);
  const load = <Module>(file: string): Promise<Module> => import(path.join(root, file)) as Promise<Module>;
  const { buildSandboxImage } = await load<typeof import('../../deploy/images/sandbox-image.ts')>(
    'deploy/images/sandbox-image.ts',
  );
  const { buildAppImage } = await load<typeof import('../../deploy/images/app-image.ts')>('deploy/images/app-image.ts');
  const sandbox = await buildSandboxImage({ signal });
  const images: AppImage[] = [];
  for (const app of APPS) images.push(await buildAppImage(app, { signal }));
  return {
    chart: path.join(root, 'helm/slipway'),
    flags: ['--set', `image.tag=${VERSION}`, '--set', `sandboxes.image.digest=${sandbox.digest}`],
    archives: [sandbox.archive, ...images.map(({ archivePath }) => archivePath)],
    digest: sandbox.digest,
  };
}

async function versioned(file: string): Promise<void> {
  const content = JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>;
  if (content['version'] !== VERSION)
    await writeFile(file, `${JSON.stringify({ ...content, version: VERSION }, null, 2)}\n`);
}
