import { z } from 'zod';
import { readPageCursor, writePageCursor } from '../../http/page-cursor.js';
import type { MemberPosition } from './members.queries.js';

/** Where a page ended: by the time of joining, then the user. */
const Cursor = z.tuple([z.iso.datetime(), z.string().regex(/^\w{1,100}$/)]);

export function writeMemberCursor({ joinedAt, userId }: MemberPosition): string {
  return writePageCursor([joinedAt, userId]);
}

/** @throws SlipwayError `request.invalid` for a cursor that this server did not write. */
export function readMemberCursor(cursor: string): MemberPosition {
  const [joinedAt, userId] = readPageCursor(Cursor, cursor);
  return { joinedAt, userId };
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
