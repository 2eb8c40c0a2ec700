import { parseOrThrow, SlipwayError } from '@slipway/errors';
import { z } from 'zod';

const Cursor = z.tuple([z.string().max(128), z.string().max(64)]);

/** Where a page of secrets ended: by name and then id. */
export function writeSecretCursor({ name, id }: { readonly name: string; readonly id: string }): string {
  return Buffer.from(JSON.stringify([name, id])).toString('base64url');
}

/** @throws SlipwayError `request.invalid` for a cursor that this server did not write. */
export function readSecretCursor(cursor: string): { name: string; id: string } {
  try {
    const [name, id] = parseOrThrow(Cursor, JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')));
    return { name, id };
  } catch (error) {
    const message = 'is not one that a page of this list ended with';
    throw new SlipwayError('request.invalid', `cursor: ${message}`, {
      fields: [{ path: 'cursor', message }],
      cause: error,
    });
  }
}
