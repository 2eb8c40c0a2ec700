'use client';
import { useRouter } from 'next/navigation';
import { useEffect } from 'react';
import { failureOf } from '../api/failure.ts';
import { Failed } from '../features/frame/failed.tsx';
import { FrameSkeleton } from '../features/frame/frame-skeleton.tsx';
import { useMe } from '../features/session/me.ts';

/** Nobody works at `/`: it leads to the first organization, or to sign-in. */
export default function RootPage() {
  const me = useMe();
  const router = useRouter();
  const slug = me.data?.orgs[0]?.slug;
  useEffect(() => {
    if (slug !== undefined) router.replace(`/${slug}`);
  }, [slug, router]);
  if (me.isError && failureOf(me.error).code !== 'auth.missing') return <Failed error={me.error} retry={() => me.refetch()} className="m-6 max-w-xl" />;
  return <FrameSkeleton />;
}
