import { Profile } from '../../../features/settings-profile/profile.tsx';
import { titled } from '../../../messages/titled.ts';
import { WithMessages } from '../../../messages/with-messages.tsx';

export const generateMetadata = titled('common.profile');

export default function ProfilePage() {
  return (
    <WithMessages of={['analytics', 'settingsProfile']}>
      <Profile />
    </WithMessages>
  );
}
