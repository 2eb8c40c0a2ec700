import { parseOrThrow, SlipwayError } from '@slipway/errors';
import { z } from 'zod';
import type { MemberPosition } from './members.queries.js';

/** Where a page ended: by the time of joining, then the user. */
const Cursor = z.tuple([z.iso.datetime(), z.string().regex(/^\w{1,100}$/)]);

export function writeMemberCursor({ joinedAt, userId }: MemberPosition): string {
  return Buffer.from(JSON.stringify([joinedAt, userId])).toString('base64url');
}

/** @throws SlipwayError `request.invalid` for a cursor that this server did not write. */
export function readMemberCursor(cursor: string): MemberPosition {
  try {
    const [joinedAt, userId] = parseOrThrow(Cursor, JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')));
    return { joinedAt, userId };
  } catch (error) {
    throw new SlipwayError('request.invalid', 'cursor: is not one that a page of this list ended with', {
      fields: [{ path: 'cursor', message: 'is not one that a page of this list ended with' }],
      cause: error,
    });
  }
}

/**
 * The words of a search, as `app.person_words` cuts names and addresses: letters and digits, lower case. At most ten.
 */
export function wordsOf(search: string | undefined): string[] {
  return (
    (search ?? '')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu)
      ?.slice(0, 10) ?? []
  );
}
