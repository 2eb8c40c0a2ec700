import { Connections } from '../../../features/settings-connections/connections.tsx';
import { titled } from '../../../messages/titled.ts';
import { WithMessages } from '../../../messages/with-messages.tsx';

export const generateMetadata = titled('common.connections');

export default function ConnectionsPage() {
  return (
    <WithMessages of={['settingsConnections']}>
      <Connections />
    </WithMessages>
  );
}
