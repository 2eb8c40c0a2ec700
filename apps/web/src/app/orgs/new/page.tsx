import { NewOrg } from '../../../features/new-org/new-org.tsx';
import { titled } from '../../../messages/titled.ts';
import { WithMessages } from '../../../messages/with-messages.tsx';

export const generateMetadata = titled('app.createOrganization');

export default function NewOrgPage() {
  return (
    <WithMessages of={['newOrg']}>
      <NewOrg />
    </WithMessages>
  );
}
