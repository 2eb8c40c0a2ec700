import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress } from 'node:zlib';
import { SlipwayError } from '@slipway/errors';
import { type ChildProgram, reasonOf, startProgram } from './child-program.js';
import { type Directories, withLinkedDirectories } from './directories.js';
import { metered, tooLarge } from './metered.js';
import { listArguments, type Survey, survey } from './survey.js';

/** zstd's level: on one core it is about as fast as tar reads; more would make it the slowest part and save little. */
const LEVEL = 1;
/** Bytes handed over at a time. Smaller ones cost more trips to the thread pool than they save memory. */
export const CHUNK_BYTES = 256 * 1024;

const TAR = [
  '--create',
  '--file=-',
  '--format=posix',
  // Of the three times only that of the content can be put back, and it needs no further header unless it has a
  // fraction.
  '--pax-option=delete=atime,delete=ctime',
  '--owner=0',
  '--group=0',
  '--numeric-owner',
  '--sparse',
  '--no-recursion',
  '--null',
  '--verbatim-files-from',
  '--files-from=-',
  // A file that vanishes or becomes unreadable while we read: the other files are still saved.
  '--ignore-failed-read',
  '--blocking-factor=128',
];

export interface ArchivedDirectories extends Survey {
  /** Reads as fast as it is read from; ends with an error when it is not whole. Destroy it to give up. */
  readonly stream: Readable;
}

/**
 * The content of the directories as a tar stream in one zstd frame. Needs GNU tar and GNU find.
 * What is written meanwhile is kept as tar finds it.
 * @throws SlipwayError `sandbox.archive-too-large` before the first byte when there are more than `maxBytes`,
 * `sandbox.archive-broken`; the signal's reason.
 */
export async function archiveDirectories(
  directories: Directories,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<ArchivedDirectories> {
  const names = Object.keys(directories);
  const found = await withLinkedDirectories(directories, (folder) => survey(folder, names, signal));
  if (found.bytes > maxBytes) throw tooLarge(found.bytes, maxBytes);
  const frame = createZstdCompress({
    chunkSize: CHUNK_BYTES,
    params: { [constants.ZSTD_c_compressionLevel]: LEVEL, [constants.ZSTD_c_checksumFlag]: 1 },
  });
  void withLinkedDirectories(directories, (folder) =>
    pipeline(tarOf(folder, names), metered(maxBytes), frame, { signal }),
  ).catch((error: Error) => {
    // `pipeline` has done it, unless there was no folder for links.
    frame.destroy(error);
  });
  return { ...found, stream: frame };
}

/** What tar writes. Throws at the end when tar says that it is not whole. */
async function* tarOf(folder: string, names: readonly string[]): AsyncGenerator<Buffer> {
  const programs: ChildProgram[] = [];
  try {
    const find = await startProgram('find', listArguments(names), folder);
    programs.push(find);
    find.stdin.end();
    const tar = await startProgram('tar', TAR, folder);
    programs.push(tar);
    find.stdout.pipe(tar.stdin);
    yield* tar.stdout as AsyncIterable<Buffer>;
    const { code, said } = await tar.ended;
    // 1: something changed while it was read.
    if (code !== 0 && code !== 1)
      throw new SlipwayError('sandbox.archive-broken', `The files cannot be kept: ${reasonOf(said, 'tar')}.`);
    const listed = await find.ended;
    if (listed.code !== 0 && listed.code !== 1)
      throw new SlipwayError('sandbox.archive-broken', `The files cannot be listed: ${reasonOf(listed.said, 'find')}.`);
  } finally {
    for (const program of programs) program.kill();
  }
}
