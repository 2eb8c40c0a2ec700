import type { Metadata } from 'next';
import { Invite } from '../../../features/invite/invite.tsx';

// The address holds the token: no other site is to learn it.
export const metadata: Metadata = { title: 'Invitation', referrer: 'no-referrer', robots: { index: false } };

export default function InvitePage() {
  return <Invite />;
}
