import type { Metadata } from 'next';
import { Invite } from '../../../features/invite/invite.tsx';
import { titled } from '../../../messages/titled.ts';
import { WithMessages } from '../../../messages/with-messages.tsx';

// The address holds the token: no other site is to learn it.import { titled } from '../../../messages/titled.ts';

export async function generateMetadata(): Promise<Metadata> {
  return { ...(await titled('app.invitation')()), referrer: 'no-referrer', robots: { index: false } };
}

export default function InvitePage() {
  return (
    <WithMessages of={['admin', 'invite']}>
      <Invite />
    </WithMessages>
  );
}
