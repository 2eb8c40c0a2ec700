import { stat } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import { reasonOf, startProgram } from '@slipway/archive';
import { SlipwayError } from '@slipway/errors';
import { fileError } from '../files/disk-space.js';
import { insideWorkspace } from '../files/workspace-path.js';

/** Parts of a project that can be regenerated from the others. */
const MADE_ANEW = [
  'node_modules',
  '.venv',
  'venv',
  '__pycache__',
  '.cache',
  '.pytest_cache',
  '.mypy_cache',
  '.ruff_cache',
  '.next',
  '.turbo',
  'target',
];

export interface FolderArchive {
  readonly path: string;
  /** Whether parts that can be regenerated are included, too. */
  readonly whole: boolean;
  /** Patterns of names, as tar reads them. */
  readonly exclude: readonly string[];
}

/**
 * Streams a folder of the workspace as a compressed tar archive; links are in it as links and lead nowhere. A failure
 * after the first byte breaks the answer off.
 */
export async function sendTar(
  workspace: string,
  { path: wanted, whole, exclude }: FolderArchive,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const folder = await insideWorkspace(workspace, wanted);
  const found = await stat(folder).catch((error: unknown) => Promise.reject(fileError(error, wanted)));
  if (!found.isDirectory()) throw new SlipwayError('request.invalid', `${wanted} is a file; download it as it is.`);
  const left = [...(whole ? [] : MADE_ANEW), ...exclude].map((pattern) => `--exclude=${pattern}`);
  const tar = await startProgram('tar', ['--create', '--file=-', ...left, '--', '.'], folder);
  tar.stdin.end();
  try {
    const name = encodeURIComponent(path.basename(folder) || 'workspace');
    response.writeHead(200, {
      'content-type': 'application/gzip',
      'content-disposition': `attachment; filename*=UTF-8''${name}.tar.gz`,
    });
    const gzip = createGzip({ level: constants.Z_BEST_SPEED });
    await pipeline(
      async function* () {
        yield* tar.stdout as AsyncIterable<Buffer>;
        const { code, said } = await tar.ended;
        // 1: something changed while it was read.
        if (code !== 0 && code !== 1)
          throw new SlipwayError('sandbox.archive-broken', `The files cannot be kept: ${reasonOf(said, 'tar')}.`);
      },
      gzip,
      response,
      { signal },
    );
  } finally {
    tar.kill();
  }
}
