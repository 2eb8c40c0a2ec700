import type { Metadata } from 'next';
import { McpPage } from '../../../../features/admin-mcp/mcp-page.tsx';

export const metadata: Metadata = { title: 'MCP servers' };

export default function Page() {
  return <McpPage />;
}
