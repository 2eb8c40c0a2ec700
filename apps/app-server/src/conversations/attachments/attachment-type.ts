import { isUtf8 } from 'node:buffer';
import { fileTypeFromBuffer } from 'file-type';

/** Beginning of a file from which its type is read. Bytes: what comes later is not trusted with the time of a parse. */
const HEAD_BYTES = 64 * 1024;
const BYTES = 'application/octet-stream';

/**
 * Media type of a file by its content. Text is `text/plain` whatever it says it is, HTML and SVG too: no browser is
 * to run it.
 */
export async function attachmentType(content: Buffer): Promise<string> {
  if (isUtf8(content) && !content.includes(0)) return 'text/plain';
  const found = await fileTypeFromBuffer(new Uint8Array(content.subarray(0, HEAD_BYTES))).catch(() => undefined);
  return found === undefined || !/^[a-z]+\/[\w.+-]{1,100}$/.test(found.mime) || found.mime.includes('xml')
    ? BYTES
    : found.mime;
}
