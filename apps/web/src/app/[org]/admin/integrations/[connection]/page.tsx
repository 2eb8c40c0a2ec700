import { ConnectionPage } from '../../../../../features/admin-integrations/connection-page.tsx';
import { titled } from '../../../../../messages/titled.ts';
import { WithMessages } from '../../../../../messages/with-messages.tsx';

export const generateMetadata = titled('app.integration');

export default async function Page({ params }: { params: Promise<{ connection: string }> }) {
  const { connection } = await params;
  return (
    <WithMessages of={['adminIntegrations']}>
      <ConnectionPage key={connection} id={connection} />
    </WithMessages>
  );
}
