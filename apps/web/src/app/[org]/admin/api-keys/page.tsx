import { ApiKeysPage } from '../../../../features/admin-api-keys/api-keys-page.tsx';
import { titled } from '../../../../messages/titled.ts';
import { WithMessages } from '../../../../messages/with-messages.tsx';

export const generateMetadata = titled('common.apiKeys');

export default function Page() {
  return (
    <WithMessages of={['admin', 'adminApiKeys', 'permissions']}>
      <ApiKeysPage />
    </WithMessages>
  );
}
