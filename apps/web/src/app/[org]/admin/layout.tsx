import type { ReactNode } from 'react';
import { AdminFrame } from '../../../features/admin/admin-frame.tsx';
import { WithMessages } from '../../../messages/with-messages.tsx';

export default function AdminLayout({ children }: { children: ReactNode }) {
  return (
    <WithMessages of={['admin']}>
      <AdminFrame>{children}</AdminFrame>
    </WithMessages>
  );
}
