import { RoleTable } from '../../../../features/admin-roles/role-table.tsx';
import { titled } from '../../../../messages/titled.ts';
import { WithMessages } from '../../../../messages/with-messages.tsx';

export const generateMetadata = titled('common.roles');

export default function RolesPage() {
  return (
    <WithMessages of={['admin', 'adminRoles', 'permissions']}>
      <RoleTable />
    </WithMessages>
  );
}
