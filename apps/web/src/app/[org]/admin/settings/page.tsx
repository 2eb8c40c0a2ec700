import { SettingsPage } from '../../../../features/admin-settings/settings-page.tsx';
import { titled } from '../../../../messages/titled.ts';
import { WithMessages } from '../../../../messages/with-messages.tsx';

export const generateMetadata = titled('common.settings');

export default function Page() {
  return (
    <WithMessages of={['adminSettings', 'approval']}>
      <SettingsPage />
    </WithMessages>
  );
}
