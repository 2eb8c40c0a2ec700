import { SERVER_ENVIRONMENT } from './server-config.ts';

/**
 * Runs once, when Next's server starts; nothing of ours runs in Next's edge runtime. Not asked for by `NEXT_RUNTIME`:
 * Next writes that into the build where it is read by its name, and into no environment. @throws when the metrics port
 * is taken; the server does not start then.
 */
export async function register(): Promise<void> {
  const { endInTime } = await import('./server/end-in-time.ts');
  endInTime();
  const { metricsAddress, startMetricsServer } = await import('./server/metrics-server.ts');
  await startMetricsServer(metricsAddress(SERVER_ENVIRONMENT));
}
