import { SandboxesPage } from '../../../../features/admin-sandboxes/sandboxes-page.tsx';
import { titled } from '../../../../messages/titled.ts';
import { WithMessages } from '../../../../messages/with-messages.tsx';

export const generateMetadata = titled('common.sandboxes');

export default function Page() {
  return (
    <WithMessages of={['adminSandboxes']}>
      <SandboxesPage />
    </WithMessages>
  );
}
