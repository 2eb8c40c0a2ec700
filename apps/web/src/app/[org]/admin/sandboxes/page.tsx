import type { Metadata } from 'next';
import { SandboxesPage } from '../../../../features/admin-sandboxes/sandboxes-page.tsx';

export const metadata: Metadata = { title: 'Sandboxes' };

export default function Page() {
  return <SandboxesPage />;
}
