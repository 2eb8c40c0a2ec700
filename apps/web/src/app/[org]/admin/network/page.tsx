import { NetworkPage } from '../../../../features/admin-network/network-page.tsx';
import { titled } from '../../../../messages/titled.ts';
import { WithMessages } from '../../../../messages/with-messages.tsx';

export const generateMetadata = titled('common.network');

export default function Page() {
  return (
    <WithMessages of={['adminNetwork', 'egress']}>
      <NetworkPage />
    </WithMessages>
  );
}
