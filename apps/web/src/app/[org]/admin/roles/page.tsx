import type { Metadata } from 'next';
import { RoleTable } from '../../../../features/admin-roles/role-table.tsx';

export const metadata: Metadata = { title: 'Roles' };

export default function RolesPage() {
  return <RoleTable />;
}
