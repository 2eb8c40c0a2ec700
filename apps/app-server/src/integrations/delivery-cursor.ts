import { parseOrThrow, SlipwayError } from '@slipway/errors';
import { z } from 'zod';

const Cursor = z.tuple([z.iso.datetime(), z.uuid()]);

/** Where a page of deliveries ended: by time and then id. */
export function writeDeliveryCursor({ receivedAt, id }: { readonly receivedAt: string; readonly id: string }): string {
  return Buffer.from(JSON.stringify([receivedAt, id])).toString('base64url');
}

/** @throws SlipwayError `request.invalid` for a cursor that this server did not write. */
export function readDeliveryCursor(cursor: string): { receivedAt: Date; id: string } {
  try {
    const [receivedAt, id] = parseOrThrow(Cursor, JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')));
    return { receivedAt: new Date(receivedAt), id };
  } catch (error) {
    const message = 'is not one that a page of this list ended with';
    throw new SlipwayError('request.invalid', `cursor: ${message}`, {
      fields: [{ path: 'cursor', message }],
      cause: error,
    });
  }
}
