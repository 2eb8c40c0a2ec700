import { LinkedAccounts } from '../../../features/settings-linked-accounts/linked-accounts.tsx';
import { titled } from '../../../messages/titled.ts';
import { WithMessages } from '../../../messages/with-messages.tsx';

export const generateMetadata = titled('common.linkedAccounts');

export default function LinkedAccountsPage() {
  return (
    <WithMessages of={['settingsLinkedAccounts']}>
      <LinkedAccounts />
    </WithMessages>
  );
}
