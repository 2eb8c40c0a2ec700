import { Home } from '../../features/home/home.tsx';
import { titled } from '../../messages/titled.ts';
import { WithMessages } from '../../messages/with-messages.tsx';

export const generateMetadata = titled('common.desk');

export default function HomePage() {
  return (
    <WithMessages
      of={[
        'attachments',
        'conversations',
        'deskPage',
        'draft',
        'egress',
        'gettingStarted',
        'home',
        'mention',
        'promptLog',
        'undo',
      ]}
    >
      <Home />
    </WithMessages>
  );
}
