import type { Member } from '@slipway/contracts/organizations';
import { csvOf } from '../list/csv.ts';
import type { Page } from '../list/use-pages.ts';

/** Most people that a browser puts into one file. */
export const MAX_EXPORTED = 20_000;

/** The whole list, read page by page. Stops at `MAX_EXPORTED`. */
export async function membersCsv(read: (cursor: { cursor?: string }) => Promise<Page<Member>>): Promise<string> {
  const members: Member[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<Member> = await read(cursor === null ? {} : { cursor });
    members.push(...page.data);
    cursor = page.page.nextCursor;
  } while (cursor !== null && members.length < MAX_EXPORTED);
  return csvOf(
    [
      'name',
      'email',
      'role',
      'source',
      'joined',
      'last active',
      'deactivated',
      'spent this cycle (USD)',
      'limit (USD)',
    ],
    members.map((member) => [
      member.name,
      member.email,
      member.role,
      member.source,
      member.joinedAt,
      member.lastActiveAt,
      member.deactivated ? 'yes' : 'no',
      member.spending?.spentUsd ?? '',
      member.spending?.limitUsd ?? '',
    ]),
  );
}
