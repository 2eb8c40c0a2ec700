import type { Metadata } from 'next';
import { Security } from '../../../../features/admin-security/security.tsx';

export const metadata: Metadata = { title: 'Security' };

export default function SecurityPage() {
  return <Security />;
}
