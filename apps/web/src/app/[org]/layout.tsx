import { type ReactNode, Suspense } from 'react';
import { PreviewProvider } from '../../features/conversation/page-preview.tsx';
import { Frame } from '../../features/frame/frame.tsx';
import { FrameSkeleton } from '../../features/frame/frame-skeleton.tsx';
import { readPagePreview } from '../../server/page-preview.ts';

export default async function OrgLayout({ children }: { children: ReactNode }) {
  const { conversation, desk } = await readPagePreview();
  return (
    <PreviewProvider preview={{ conversation, desk }}>
      <Suspense fallback={<FrameSkeleton />}>
        <Frame>{children}</Frame>
      </Suspense>
    </PreviewProvider>
  );
}
