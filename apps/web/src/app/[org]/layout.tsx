import type { ReactNode } from 'react';
import { PreviewProvider } from '../../features/conversation/page-preview.tsx';
import { Frame } from '../../features/frame/frame.tsx';
import { readPagePreview } from '../../server/page-preview.ts';

/**
 * No `Suspense` around the frame: React takes over what stands in one when nothing else is to be done, and keys and
 * presses would wait for that.
 */
export default async function OrgLayout({ children }: { children: ReactNode }) {
  const { conversation, desk } = await readPagePreview();
  return (
    <PreviewProvider preview={{ conversation, desk }}>
      <Frame>{children}</Frame>
    </PreviewProvider>
  );
}
