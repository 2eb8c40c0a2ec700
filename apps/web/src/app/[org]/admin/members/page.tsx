import { Members } from '../../../../features/admin-members/members.tsx';
import { titled } from '../../../../messages/titled.ts';
import { WithMessages } from '../../../../messages/with-messages.tsx';

export const generateMetadata = titled('common.members');

export default function MembersPage() {
  return (
    <WithMessages of={['admin', 'adminMembers']}>
      <Members />
    </WithMessages>
  );
}
