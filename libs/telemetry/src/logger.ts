import { type DestinationStream, type Logger, pino } from 'pino';
import { currentContext } from './context.js';
import type { LogSettings } from './log-settings.js';
import { textLines } from './text-lines.js';
import { activeTracing } from './tracing/tracing.js';

export type { Logger } from 'pino';

const SEVERITIES: Record<string, string> = {
  trace: 'DEBUG',
  debug: 'DEBUG',
  info: 'INFO',
  warn: 'WARNING',
  error: 'ERROR',
  fatal: 'CRITICAL',
};

/** Names whose values never reach a log, wherever they stand one or two levels deep. */
const SECRET_FIELDS = [
  'authorization',
  'cookie',
  'token',
  'password',
  'secret',
  'apiKey',
  'api_key',
  'sessionApiKey',
  'session_api_key',
  'gateway_api_key',
];

/**
 * A logger that writes one JSON line an entry: `message, severity, timestamp, service` and, inside a request,
 * `request_id, trace_id, org_id, user_id, conversation_id`.
 *
 * @param settings a level is one of pino's; `silent` writes nothing.
 */
export function createLogger(service: string, settings: LogSettings | string = 'info'): Logger {
  return loggerTo(pino.destination({ sync: true }), service, settings, {
    secretFields: SECRET_FIELDS,
    mixin: contextFields,
  });
}

/** Longest that a line waits for others. Milliseconds. */
const GATHER_MS = 100;
/** A batch is written when it is this long. Bytes. */
const GATHER_BYTES = 8_192;

/**
 * For lines that a busy service writes by the thousand, of fields that are no secrets and name the request: many of
 * them are one write, up to `GATHER_MS` late, they are not scanned for secrets, and nothing of the request's context is
 * added. An exit of the process writes what waits; a kill loses it.
 */
export function createGatheringLogger(service: string, settings: LogSettings | string = 'info'): Logger {
  const destination = pino.destination({ sync: true, minLength: GATHER_BYTES, periodicFlush: GATHER_MS });
  process.once('exit', () => destination.flushSync());
  return loggerTo(destination, service, settings, { secretFields: [] });
}

function contextFields(): object {
  const context = currentContext();
  const fields = activeTracing().logFields();
  return context === undefined
    ? fields
    : {
        ...fields,
        request_id: context.requestId,
        trace_id: context.traceId,
        org_id: context.orgId,
        user_id: context.userId,
        conversation_id: context.conversationId,
      };
}

interface Lines {
  readonly secretFields: readonly string[];
  readonly mixin?: () => object;
}

function loggerTo(
  destination: DestinationStream,
  service: string,
  settings: LogSettings | string,
  { secretFields, mixin }: Lines,
): Logger {
  const {
    level,
    json = true,
    levelKey = 'severity',
  }: LogSettings = typeof settings === 'string' ? { level: settings } : settings;
  return pino(
    {
      level,
      base: { service },
      messageKey: 'message',
      timestamp: () => `,"timestamp":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ [levelKey]: SEVERITIES[label] ?? 'INFO' }) },
      redact: { paths: secretFields.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[redacted]' },
      ...(mixin === undefined ? {} : { mixin }),
    },
    json ? destination : textLines(destination, levelKey),
  );
}
