import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, open, stat } from 'node:fs/promises';
import { type FileState, MAX_LIVE_PICTURE_BYTES, MAX_LIVE_TEXT_BYTES, textChecksum } from '@slipway/contracts/live';
import { SlipwayError } from '@slipway/errors';
import { PICTURE_HEAD_BYTES, pictureType } from '../editor/picture.js';
import { encoded, readTextFile } from '../editor/text-file.js';
import { fileError } from '../files/disk-space.js';
import { insideWorkspace } from '../files/workspace-path.js';

/**
 * State of a path of the workspace as a user sees it. No more is read than is shown; pipes, sockets and devices are not
 * opened. Never throws for what is there.
 */
export async function readFileState(workspace: string, wanted: string): Promise<FileState> {
  try {
    return await stateOf(await insideWorkspace(workspace, wanted));
  } catch (thrown) {
    const error = fileError(thrown, wanted);
    if (!(error instanceof SlipwayError)) throw error;
    if (error.code === 'file.not-found') return { kind: 'gone' };
    return { kind: 'refused', code: error.code, detail: error.detail };
  }
}

async function stateOf(file: string): Promise<FileState> {
  const found = await stat(file);
  if (found.isDirectory()) return { kind: 'directory' };
  if (!found.isFile()) throw new SlipwayError('request.invalid', 'This is a pipe, a socket or a device, not a file.');
  const picture = await pictureOf(file);
  if (picture !== undefined) return picture;
  if (found.size > MAX_LIVE_TEXT_BYTES)
    return { kind: 'too-large', sizeBytes: found.size, limitBytes: MAX_LIVE_TEXT_BYTES };
  try {
    const { text, encoding } = await readTextFile(file);
    const readOnly = await access(file, constants.W_OK).then(
      () => false,
      () => true,
    );
    return {
      kind: 'text',
      text,
      encoding,
      version: versionOfBytes(encoded(text, encoding)),
      checksum: textChecksum(text),
      sizeBytes: found.size,
      readOnly,
    };
  } catch (error) {
    if (error instanceof SlipwayError && error.code === 'file.binary') return { kind: 'binary', sizeBytes: found.size };
    if (error instanceof SlipwayError && error.code === 'file.too-large')
      return { kind: 'too-large', sizeBytes: found.size, limitBytes: MAX_LIVE_TEXT_BYTES };
    throw error;
  }
}

/** Names a content: the same bytes have the same version. */
export function versionOfBytes(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('base64url').slice(0, 24);
}

async function pictureOf(file: string): Promise<FileState | undefined> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const { size } = await handle.stat();
    const head = Buffer.alloc(PICTURE_HEAD_BYTES);
    const { bytesRead } = await handle.read(head, 0, head.length, 0);
    const mediaType = pictureType(head.subarray(0, bytesRead));
    if (mediaType === undefined) return undefined;
    if (size > MAX_LIVE_PICTURE_BYTES)
      return { kind: 'too-large', sizeBytes: size, limitBytes: MAX_LIVE_PICTURE_BYTES };
    const bytes = Buffer.alloc(size);
    const whole = bytes.subarray(0, (await handle.read(bytes, 0, size, 0)).bytesRead);
    return {
      kind: 'picture',
      mediaType,
      base64: whole.toString('base64'),
      version: versionOfBytes(whole),
      sizeBytes: whole.length,
    };
  } finally {
    await handle.close();
  }
}
