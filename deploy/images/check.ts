// `node_modules/.bin/node deploy/images/check.ts [--app] ARCHIVE` lists the missing requirements of a custom sandbox
// image, or app image. Exit code 1 when one is missing.
import { appFindingsOf, isOurs } from './apps/app-requirements.ts';
import { readImageArchive } from './image-archive-reader.ts';
import { type Findings, findingsOf } from './image-requirements.ts';

/** @throws Error when the archive cannot be read. */
export async function checkArchive(archive: string, architecture: string, signal: AbortSignal): Promise<Findings> {
  return findingsOf(await readImageArchive(archive, architecture, signal));
}

/** The same of an app's image. */
export async function checkAppArchive(archive: string, architecture: string, signal: AbortSignal): Promise<Findings> {
  return appFindingsOf(await readImageArchive(archive, architecture, signal, isOurs));
}

if (import.meta.main) {
  const app = process.argv.includes('--app');
  const [archive] = process.argv.slice(2).filter((argument) => argument !== '--app');
  if (archive === undefined) {
    console.error('usage: check.ts [--app] ARCHIVE.tar');
    process.exit(2);
  }
  const found = await (app ? checkAppArchive : checkArchive)(
    archive,
    process.arch === 'arm64' ? 'arm64' : 'amd64',
    AbortSignal.timeout(15 * 60_000),
  ).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    process.exit(2);
  });
  for (const sentence of found.missing) console.log(`missing  ${sentence}`);
  for (const sentence of found.differs) console.log(`differs  ${sentence}`);
  if (app)
    console.log(
      found.missing.length === 0
        ? 'This image meets the contract of an app image.'
        : `This image misses ${found.missing.length} requirements of an app image.`,
    );
  else
    console.log(
      found.missing.length === 0
        ? 'A sandbox can run this image.'
        : `A sandbox cannot run this image: ${found.missing.length} requirements are missing.`,
    );
  process.exit(found.missing.length === 0 ? 0 : 1);
}
