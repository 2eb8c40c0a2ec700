import { IntegrationsPage } from '../../../../features/admin-integrations/integrations-page.tsx';
import { titled } from '../../../../messages/titled.ts';
import { WithMessages } from '../../../../messages/with-messages.tsx';

export const generateMetadata = titled('common.integrations');

export default function Page() {
  return (
    <WithMessages of={['adminIntegrations']}>
      <IntegrationsPage />
    </WithMessages>
  );
}
