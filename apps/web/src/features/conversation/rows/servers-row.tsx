'use client';
import type { McpServerState } from '@slipway/contracts/agent';
import { CircleAlert, CircleCheck, CircleDashed, CircleMinus, Plug } from 'lucide-react';
import { useTranslations } from 'next-intl';
import type { Translate } from '../../../messages/translate.ts';
import type { RowOf } from '../timeline-row.ts';
import { Disclosure } from './disclosure.tsx';

/** What became of the MCP servers; open while one of them is missing. */
export function ServersRow({ row: { key, servers } }: { row: RowOf<'servers'> }) {
  const t = useTranslations();
  const missing = servers.filter(({ state }) => state === 'failed' || state === 'off');
  return (
    <Disclosure
      rowKey={key}
      startsOpen={missing.length > 0}
      className="py-1"
      icon={<Plug aria-hidden />}
      label={labelOf(t, servers, missing)}
    >
      <ul className="flex flex-col gap-1.5 rounded-lg border border-line bg-surface px-3 py-2">
        {servers.map((server) => (
          <li key={server.name} className="flex gap-2.5 text-sm">
            <span className="grid h-5 w-4 shrink-0 place-items-center [&_svg]:size-4">
              <Mark state={server.state} />
            </span>
            <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
              <span className="font-medium">{server.name}</span>
              <span className="text-ink-muted">{aside(t, server)}</span>
              {server.reason ? <span className="block">{server.reason}</span> : null}
              {server.nextStep ? <span className="block text-ink-muted">{server.nextStep}</span> : null}
              {server.dropped.length > 0 ? (
                <span className="block text-xs text-ink-muted">
                  {t('conversation.notImported', { dropped: server.dropped.join('; ') })}
                </span>
              ) : null}
            </span>
          </li>
        ))}
      </ul>
    </Disclosure>
  );
}

function labelOf(t: Translate, servers: readonly McpServerState[], missing: readonly McpServerState[]): string {
  const [first] = missing;
  if (first === undefined)
    return servers.length === 1 && servers[0] !== undefined
      ? t('conversation.mcpServerIsConnected', { name: servers[0].name })
      : t('conversation.allMcpServersAreConnected', { count: servers.length });
  return missing.length === 1
    ? t('conversation.mcpServerIsUnavailable', { name: first.name })
    : t('conversation.ofMcpServersAreUnavailable', { count: missing.length, count2: servers.length });
}

function aside(t: Translate, { state, tools }: McpServerState): string {
  if (state === 'ready') return ` · ${t('conversation.tools', { tools: tools ?? 0 })}`;
  if (state === 'connecting') return ` · ${t('conversation.connecting')}`;
  return state === 'failed' ? ` · ${t('conversation.retryingAutomatically')}` : ` · ${t('conversation.notUsed')}`;
}

function Mark({ state }: { state: McpServerState['state'] }) {
  const t = useTranslations();
  switch (state) {
    case 'ready':
      return <CircleCheck role="img" aria-label={t('conversation.connected')} className="text-ok" />;
    case 'failed':
      return <CircleAlert role="img" aria-label={t('conversation.failed')} className="text-bad" />;
    case 'off':
      return <CircleMinus role="img" aria-label={t('conversation.notUsed2')} className="text-ink-muted" />;
    default:
      return <CircleDashed aria-hidden />;
  }
}
