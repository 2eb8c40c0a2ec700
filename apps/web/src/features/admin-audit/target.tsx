'use client';
import type { AuditEntry } from '@slipway/contracts';
import { useQuery } from '@tanstack/react-query';
import Link from 'next/link';
import { api } from '../../api/client.ts';
import { useSession } from '../session/me.ts';
import { placeOfTarget } from './place-of-target.ts';

/** What something was done to: a name and a link where there is one, else its id. */
export function Target({ entry }: { entry: AuditEntry }) {
  const { org } = useSession();
  const members = useQuery({
    queryKey: ['members', org.id, 'names'],
    queryFn: ({ signal }) => api.listMembers({ org: org.id, query: { limit: 200 }, signal }),
    staleTime: 60_000,
  });
  const names = new Map((members.data?.data ?? []).map((member) => [member.userId, member.name]));
  const place = placeOfTarget(entry, { slug: org.slug, id: org.id, name: org.name, members: names });
  if (place.href === null)
    return (
      <span className={place.isId ? 'block truncate font-mono text-xs' : 'block truncate'} title={entry.target}>
        {place.label}
      </span>
    );
  return (
    <Link href={place.href} title={entry.target} className="block truncate py-0.5 touch:py-3 text-accent hover:underline">
      {place.label}
    </Link>
  );
}
