import { Danger } from '../../../../features/admin-danger/danger.tsx';
import { titled } from '../../../../messages/titled.ts';
import { WithMessages } from '../../../../messages/with-messages.tsx';

export const generateMetadata = titled('common.dangerZone');

export default function DangerPage() {
  return (
    <WithMessages of={['admin', 'adminDanger']}>
      <Danger />
    </WithMessages>
  );
}
