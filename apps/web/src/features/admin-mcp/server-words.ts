import type { McpServer } from '@slipway/contracts';

/** The three ways to a server, as people choose them. */
export const KIND_OPTIONS = [
  { value: 'http', label: 'Streamable HTTP', hint: 'A server at an address: what most are today.' },
  { value: 'sse', label: 'Server-sent events', hint: 'The older way to a server at an address.' },
  { value: 'stdio', label: 'Program in the sandbox', hint: 'It is started for each conversation and ends with it.' },
] as const;

export const KINDS: Readonly<Record<McpServer['transport'], string>> = { http: 'Streamable HTTP', sse: 'Server-sent events', stdio: 'Program' };

/** Where it is, in one line. */
export function placeOf(server: McpServer): string {
  return server.transport === 'stdio' ? [server.command, ...server.args].join(' ') : server.url;
}
