import { UsagePage } from '../../../../features/admin-usage/usage-page.tsx';
import { titled } from '../../../../messages/titled.ts';
import { WithMessages } from '../../../../messages/with-messages.tsx';

export const generateMetadata = titled('common.usage');

export default function Page() {
  return (
    <WithMessages of={['adminUsage']}>
      <UsagePage />
    </WithMessages>
  );
}
