import type { Metadata } from 'next';
import { Sessions } from '../../../features/settings-sessions/sessions.tsx';

export const metadata: Metadata = { title: 'Sessions' };

export default function SessionsPage() {
  return <Sessions />;
}
