export const dynamic = 'force-dynamic';

/** Memory and CPU of this process in Prometheus' text format. */
export function GET(): Response {
  const cpu = process.cpuUsage();
  const rows = [
    ['process_resident_memory_bytes', 'gauge', process.memoryUsage().rss],
    ['process_cpu_user_seconds_total', 'counter', cpu.user / 1e6],
    ['process_cpu_system_seconds_total', 'counter', cpu.system / 1e6],
  ] as const;
  const text = rows.map(([name, type, value]) => `# TYPE ${name} ${type}\n${name}{service="web"} ${value}\n`).join('');
  return new Response(text, { headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' } });
}
