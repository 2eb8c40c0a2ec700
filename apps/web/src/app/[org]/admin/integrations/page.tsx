import type { Metadata } from 'next';
import { IntegrationsPage } from '../../../../features/admin-integrations/integrations-page.tsx';

export const metadata: Metadata = { title: 'Integrations' };

export default function Page() {
  return <IntegrationsPage />;
}
