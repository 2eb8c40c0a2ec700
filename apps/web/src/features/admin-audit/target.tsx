'use client';
import type { AuditEntry } from '@slipway/contracts/audit';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { useSession } from '../session/me.ts';
import { placeOfTarget } from './place-of-target.ts';

/** What something was done to: a name and a link where there is one, else its id. */
export function Target({ entry, names }: { entry: AuditEntry; names: Readonly<Record<string, string>> }) {
  const t = useTranslations();
  const { org } = useSession();
  const place = placeOfTarget(t, entry, { slug: org.slug, id: org.id, name: org.name, names });
  if (place.href === null)
    return (
      <span
        dir="auto"
        className={place.isId ? 'block truncate font-mono text-xs' : 'block truncate'}
        title={entry.target}
      >
        {place.label}
      </span>
    );
  return (
    <Link
      href={place.href}
      title={entry.target}
      dir="auto"
      className="block truncate py-0.5 touch:py-3 text-accent hover:underline"
    >
      {place.label}
    </Link>
  );
}
