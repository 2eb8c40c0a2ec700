import type { Metadata } from 'next';
import { SecretsPage } from '../../../../features/admin-secrets/secrets-page.tsx';

export const metadata: Metadata = { title: 'Secrets' };

export default function Page() {
  return <SecretsPage />;
}
