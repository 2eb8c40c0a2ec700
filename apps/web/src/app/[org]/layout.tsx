import { type ReactNode, Suspense } from 'react';
import { Frame } from '../../features/frame/frame.tsx';
import { FrameSkeleton } from '../../features/frame/frame-skeleton.tsx';

export default function OrgLayout({ children }: { children: ReactNode }) {
  return (
    <Suspense fallback={<FrameSkeleton />}>
      <Frame>{children}</Frame>
    </Suspense>
  );
}
