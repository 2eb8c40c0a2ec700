/** Content type of Prometheus' text format. */
export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * Memory, CPU and uptime of this process in Prometheus' text format, with the names that prom-client gives them.
 * For the small processes that start in a tenth of a second: the services use `@slipway/telemetry/http`.
 */
export function processMetrics(service: string): string {
  const cpu = process.cpuUsage();
  const memory = process.memoryUsage();
  const rows: ReadonlyArray<readonly [name: string, type: 'gauge' | 'counter', help: string, value: number]> = [
    ['process_resident_memory_bytes', 'gauge', 'Resident memory size in bytes.', memory.rss],
    ['nodejs_heap_size_used_bytes', 'gauge', 'Process heap size used from Node.js in bytes.', memory.heapUsed],
    ['process_cpu_user_seconds_total', 'counter', 'Total user CPU time spent in seconds.', cpu.user / 1e6],
    ['process_cpu_system_seconds_total', 'counter', 'Total system CPU time spent in seconds.', cpu.system / 1e6],
    [
      'process_start_time_seconds',
      'gauge',
      'Start time of the process since unix epoch in seconds.',
      performance.timeOrigin / 1000,
    ],
  ];
  return rows
    .map(
      ([name, type, help, value]) =>
        `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${name}{service="${service}"} ${value}\n`,
    )
    .join('');
}
