import { ModelsPage } from '../../../../features/admin-models/models-page.tsx';
import { titled } from '../../../../messages/titled.ts';
import { WithMessages } from '../../../../messages/with-messages.tsx';

export const generateMetadata = titled('common.models');

export default function Page() {
  return (
    <WithMessages of={['adminModels']}>
      <ModelsPage />
    </WithMessages>
  );
}
