import { Security } from '../../../../features/admin-security/security.tsx';
import { titled } from '../../../../messages/titled.ts';
import { WithMessages } from '../../../../messages/with-messages.tsx';

export const generateMetadata = titled('common.security');

export default function SecurityPage() {
  return (
    <WithMessages of={['admin', 'adminSecurity']}>
      <Security />
    </WithMessages>
  );
}
