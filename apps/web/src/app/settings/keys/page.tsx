import { ShortcutSettings } from '../../../features/settings-keys/shortcut-settings.tsx';
import { titled } from '../../../messages/titled.ts';
import { WithMessages } from '../../../messages/with-messages.tsx';

export const generateMetadata = titled('common.keyboard');

export default function KeysPage() {
  return (
    <WithMessages of={['settingsKeys']}>
      <ShortcutSettings />
    </WithMessages>
  );
}
