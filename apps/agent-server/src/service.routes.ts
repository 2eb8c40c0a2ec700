import { METRICS_CONTENT_TYPE, processMetrics } from '@slipway/telemetry';
import { ok, type Route } from './http/router.js';

const STARTED = performance.now();

/** What probes and clients ask before they have a key. */
export function serviceRoutes(): Route[] {
  const open = (path: string, body: () => unknown): Route => ({ method: 'GET', path, access: 'open', handle: () => ok(body()) });
  return [
    open('/alive', () => ({ status: 'ok' })),
    open('/health', () => ({ status: 'ok' })),
    open('/ready', () => ({ status: 'ready' })),
    {
      method: 'GET',
      path: '/metrics',
      access: 'open',
      handle: ({ response }) => void response.writeHead(200, { 'content-type': METRICS_CONTENT_TYPE }).end(processMetrics('agent-server')),
    },
    open('/server_info', () => ({
      title: 'Slipway agent-server',
      version: '0.1.0',
      uptime: Math.round((performance.now() - STARTED) / 1000),
      usable_tools: ['terminal', 'file_editor', 'task_tracker', 'think', 'finish'],
      conversation_runtime: 'local',
    })),
  ];
}
