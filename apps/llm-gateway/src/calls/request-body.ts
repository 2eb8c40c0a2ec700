import type { IncomingMessage } from 'node:http';
import { SlipwayError } from '@slipway/errors';

/** Largest request. Bytes: a full context of a million tokens with images in it. */
export const MAX_REQUEST = 32 * 1024 * 1024;

/**
 * The whole body. @throws SlipwayError `request.too-large` as soon as it is known; `request.invalid` when the caller
 * breaks off.
 */
export function readBody(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (Number(request.headers['content-length'] ?? 0) > MAX_REQUEST) return reject(tooLarge());
    const parts: Buffer[] = [];
    let length = 0;
    request.on('data', (part: Buffer) => {
      length += part.length;
      if (length > MAX_REQUEST) {
        parts.length = 0;
        request.removeAllListeners('data');
        request.pause();
        return reject(tooLarge());
      }
      parts.push(part);
    });
    request.once('end', () => resolve(parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts)));
    request.once('error', (error) =>
      reject(new SlipwayError('request.invalid', 'The request broke off.', { cause: error })),
    );
    request.once('close', () => {
      if (!request.complete) reject(new SlipwayError('request.invalid', 'The request broke off.'));
    });
  });
}

function tooLarge(): SlipwayError {
  return new SlipwayError('request.too-large', 'A request may have 32 MiB.');
}
