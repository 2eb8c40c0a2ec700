import { CredentialsPage } from '../../../../features/admin-credentials/credentials-page.tsx';
import { titled } from '../../../../messages/titled.ts';
import { WithMessages } from '../../../../messages/with-messages.tsx';

export const generateMetadata = titled('common.credentials');

export default function Page() {
  return (
    <WithMessages of={['adminCredentials']}>
      <CredentialsPage />
    </WithMessages>
  );
}
