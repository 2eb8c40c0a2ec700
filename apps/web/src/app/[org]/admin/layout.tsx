import type { ReactNode } from 'react';
import { AdminFrame } from '../../../features/admin/admin-frame.tsx';

export default function AdminLayout({ children }: { children: ReactNode }) {
  return <AdminFrame>{children}</AdminFrame>;
}
