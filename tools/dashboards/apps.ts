import type { Labels } from './query.ts';

/** What Prometheus scrapes, by the end of the Service's name. */
export const APPS = [
  'app-server',
  'worker',
  'runtime-api',
  'llm-gateway',
  'sandbox-gateway',
  'web',
  'egress-proxy',
  'credential-broker',
] as const;
/** Those that not every installation has. */
export const OPTIONAL_APPS: readonly string[] = ['egress-proxy', 'credential-broker'];
export const OF_APPS: Labels = { job: { app: APPS } };
/** Requests of callers. */
export const NOT_PROBES: Labels = { route: { not: ['/ready', '/alive', '/metrics'] } };
