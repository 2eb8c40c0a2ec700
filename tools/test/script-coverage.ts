import { Session } from 'node:inspector/promises';
import type { ScriptCoverage } from './protocol.ts';

/**
 * Counts from now on which ranges of which scripts run. @returns what takes the counts of files that are no packages.
 */
export async function startCoverage(): Promise<() => Promise<ScriptCoverage[]>> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  return async () => {
    const { result } = await session.post('Profiler.takePreciseCoverage');
    session.disconnect();
    return result.filter(
      ({ url }) => url.startsWith('file:') && !url.includes('/node_modules/') && !/\.test\.[jt]sx?$/.test(url),
    );
  };
}
