import type { Metadata } from 'next';
import { ConnectionPage } from '../../../../../features/admin-integrations/connection-page.tsx';

export const metadata: Metadata = { title: 'Integration' };

export default async function Page({ params }: { params: Promise<{ connection: string }> }) {
  const { connection } = await params;
  return <ConnectionPage key={connection} id={connection} />;
}
