import type { Metadata } from 'next';
import { Danger } from '../../../../features/admin-danger/danger.tsx';

export const metadata: Metadata = { title: 'Danger zone' };

export default function DangerPage() {
  return <Danger />;
}
