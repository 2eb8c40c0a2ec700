'use client';
import { useRouter } from 'next/navigation';
import { useEffect } from 'react';
import { adminTabs } from '../../../features/admin/tabs.ts';
import { useSession } from '../../../features/session/me.ts';

/** Nothing is here: it leads to the first tab. */
export default function AdminIndex() {
  const { org } = useSession();
  const router = useRouter();
  const first = adminTabs(org)[0]?.path ?? 'members';
  useEffect(() => router.replace(`/${org.slug}/admin/${first}`), [router, org.slug, first]);
  return null;
}
