import type { McpServer } from '@slipway/contracts/secrets';
import type { MessageKey } from '../../messages/translate.ts';

/** The three ways to a server, as people choose them. */
export const KIND_OPTIONS = [
  { value: 'http', label: 'adminMcp.streamableHttp', hint: 'adminMcp.aServerAtAUrl' },
  { value: 'sse', label: 'adminMcp.serverSentEvents', hint: 'adminMcp.theOlderProtocolForA' },
  { value: 'stdio', label: 'adminMcp.programInTheSandbox', hint: 'adminMcp.startedForEachConversationAnd' },
] as const;

export const KINDS: Readonly<Record<McpServer['transport'], MessageKey>> = {
  http: 'adminMcp.streamableHttp',
  sse: 'adminMcp.serverSentEvents',
  stdio: 'adminMcp.program',
};

/** Where it is, in one line. */
export function placeOf(server: McpServer): string {
  return server.transport === 'stdio' ? [server.command, ...server.args].join(' ') : server.url;
}
