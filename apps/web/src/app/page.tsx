'use client';
import { useRouter } from 'next/navigation';
import { useEffect } from 'react';
import { useHydrated } from '../browser/hydrated.ts';
import { useStored } from '../browser/stored.ts';
import { FrameSkeleton } from '../features/frame/frame-skeleton.tsx';
import { LAST_ORG, lastOrg } from '../features/frame/last-org.ts';
import { SignedIn } from '../features/session/signed-in.tsx';

/** Nobody works at `/`: it leads to the organization that was looked at last, or to sign-in. */
export default function RootPage() {
  const [last] = useStored(LAST_ORG, '');
  const hydrated = useHydrated();
  return <SignedIn>{(me) => (hydrated ? <Lead slug={lastOrg(me, last)?.slug} /> : <FrameSkeleton />)}</SignedIn>;
}

function Lead({ slug }: { slug: string | undefined }) {
  const router = useRouter();
  useEffect(() => router.replace(slug === undefined ? '/orgs/new' : `/${slug}`), [slug, router]);
  return <FrameSkeleton />;
}
