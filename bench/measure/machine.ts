import os from 'node:os';

/**
 * What the figures were measured on. `load` is the one-minute average before the first bench: above 1 the latencies are
 * not to be trusted.
 */
export function describeMachine(): {
  cores: number;
  cpu: string;
  memoryGiB: number;
  load: number;
  node: string;
  platform: string;
  at: string;
} {
  const cpus = os.cpus();
  return {
    cores: cpus.length,
    cpu: cpus[0]?.model.trim() ?? 'unknown',
    memoryGiB: Math.round(os.totalmem() / 2 ** 30),
    load: Math.round((os.loadavg()[0] ?? 0) * 100) / 100,
    node: process.version,
    platform: `${process.platform} ${os.release()}`,
    at: new Date().toISOString(),
  };
}
