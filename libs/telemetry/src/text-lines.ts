import type { DestinationStream } from 'pino';

/**
 * Turns each JSON line into `time level service message name=value …` for a terminal. Lines that are not JSON pass
 * unchanged.
 */
export function textLines(to: DestinationStream, levelKey: string): DestinationStream {
  return { write: (line: string) => to.write(asText(line, levelKey)) };
}

function asText(line: string, levelKey: string): string {
  let fields: Record<string, unknown>;
  try {
    fields = JSON.parse(line) as Record<string, unknown>;
  } catch {
    return line;
  }
  const { message, timestamp, service, [levelKey]: level, err, ...rest } = fields;
  const stack = (err as { stack?: unknown } | undefined)?.stack;
  const named = Object.entries(stack === undefined && err !== undefined ? { ...rest, err } : rest);
  const parts = [
    timestamp,
    String(level).padEnd(8),
    service,
    message === undefined ? '' : plain(String(message)),
    ...named.map(([name, value]) => `${name}=${shown(value)}`),
  ];
  const below = typeof stack === 'string' ? stack.split('\n').map((each) => `    ${plain(each)}\n`) : [];
  return `${parts.filter((part) => part !== undefined && part !== '').join(' ')}\n${below.join('')}`;
}

function shown(value: unknown): string {
  return typeof value === 'string' && /^[!#-<>-~]+$/.test(value) ? value : JSON.stringify(value);
}

/**
 * What ends a line or moves a terminal's cursor, as JSON writes it: no logged text can imitate another line of the log.
 */
function plain(text: string): string {
  return JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"');
}
