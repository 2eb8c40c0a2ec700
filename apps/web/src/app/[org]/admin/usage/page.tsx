import type { Metadata } from 'next';
import { UsagePage } from '../../../../features/admin-usage/usage-page.tsx';

export const metadata: Metadata = { title: 'Usage · Slipway' };

export default function Page() {
  return <UsagePage />;
}
