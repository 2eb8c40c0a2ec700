import { PromptsPage } from '../../../features/prompts/prompts-page.tsx';
import { titled } from '../../../messages/titled.ts';
import { WithMessages } from '../../../messages/with-messages.tsx';

export const generateMetadata = titled('common.prompts');

export default function Page() {
  return (
    <WithMessages of={['prompts']}>
      <PromptsPage />
    </WithMessages>
  );
}
