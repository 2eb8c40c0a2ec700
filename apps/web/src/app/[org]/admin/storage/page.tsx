import { StoragePage } from '../../../../features/admin-storage/storage-page.tsx';
import { titled } from '../../../../messages/titled.ts';
import { WithMessages } from '../../../../messages/with-messages.tsx';

export const generateMetadata = titled('common.storage');

export default function Page() {
  return (
    <WithMessages of={['adminStorage']}>
      <StoragePage />
    </WithMessages>
  );
}
