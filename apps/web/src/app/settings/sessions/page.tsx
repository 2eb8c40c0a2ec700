import { Sessions } from '../../../features/settings-sessions/sessions.tsx';
import { titled } from '../../../messages/titled.ts';
import { WithMessages } from '../../../messages/with-messages.tsx';

export const generateMetadata = titled('common.sessions');

export default function SessionsPage() {
  return (
    <WithMessages of={['settingsSessions']}>
      <Sessions />
    </WithMessages>
  );
}
