import { type Logger, pino } from 'pino';
import { currentContext } from './context.js';

export type { Logger } from 'pino';

const SEVERITIES: Record<string, string> = { trace: 'DEBUG', debug: 'DEBUG', info: 'INFO', warn: 'WARNING', error: 'ERROR', fatal: 'CRITICAL' };

/** Names whose values never reach a log, wherever they stand one or two levels deep. */
const SECRET_FIELDS = ['authorization', 'cookie', 'token', 'password', 'secret', 'apiKey', 'api_key', 'sessionApiKey', 'session_api_key'];

/**
 * A logger that writes one JSON line an entry: `message, severity, timestamp, service` and, inside a request,
 * `request_id, trace_id, org_id, user_id, conversation_id`.
 *
 * @param level one of pino's levels; `silent` writes nothing.
 */
export function createLogger(service: string, level = 'info'): Logger {
  return pino(
    {
      level,
      base: { service },
      messageKey: 'message',
      timestamp: () => `,"timestamp":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ severity: SEVERITIES[label] ?? 'INFO' }) },
      redact: { paths: SECRET_FIELDS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[redacted]' },
      mixin: () => {
        const context = currentContext();
        return context === undefined
          ? {}
          : {
              request_id: context.requestId,
              trace_id: context.traceId,
              org_id: context.orgId,
              user_id: context.userId,
              conversation_id: context.conversationId,
            };
      },
    },
    pino.destination({ sync: true }),
  );
}
