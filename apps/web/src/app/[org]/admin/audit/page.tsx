import { AuditPage } from '../../../../features/admin-audit/audit-page.tsx';
import { titled } from '../../../../messages/titled.ts';
import { WithMessages } from '../../../../messages/with-messages.tsx';

export const generateMetadata = titled('common.audit');

export default function Page() {
  return (
    <WithMessages of={['adminAudit', 'auditActions', 'auditNouns']}>
      <AuditPage />
    </WithMessages>
  );
}
