import { SecretsPage } from '../../../../features/admin-secrets/secrets-page.tsx';
import { titled } from '../../../../messages/titled.ts';
import { WithMessages } from '../../../../messages/with-messages.tsx';

export const generateMetadata = titled('common.secrets');

export default function Page() {
  return (
    <WithMessages of={['adminSecrets']}>
      <SecretsPage />
    </WithMessages>
  );
}
