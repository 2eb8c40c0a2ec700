import type { Metadata } from 'next';
import { Profile } from '../../../features/settings-profile/profile.tsx';

export const metadata: Metadata = { title: 'Profile' };

export default function ProfilePage() {
  return <Profile />;
}
