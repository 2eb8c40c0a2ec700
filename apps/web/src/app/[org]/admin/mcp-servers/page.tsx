import { McpPage } from '../../../../features/admin-mcp/mcp-page.tsx';
import { titled } from '../../../../messages/titled.ts';
import { WithMessages } from '../../../../messages/with-messages.tsx';

export const generateMetadata = titled('common.mcpServers');

export default function Page() {
  return (
    <WithMessages of={['adminMcp']}>
      <McpPage />
    </WithMessages>
  );
}
