import type { Metadata } from 'next';
import { Connections } from '../../../features/settings-connections/connections.tsx';

export const metadata: Metadata = { title: 'Connections' };

export default function ConnectionsPage() {
  return <Connections />;
}
