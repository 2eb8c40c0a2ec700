import { z } from 'zod';

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** Variables of every app's log; spread into its `ConfigSchema`. */
export const logVariables = {
  LOG_LEVEL: z.enum(LEVELS).default('info').describe('Least severe level that is written.'),
  LOG_JSON: z.stringbool().default(true).describe('Each log line is a JSON object; `0`: text for a terminal.'),
  LOG_JSON_LEVEL_KEY: z
    .string()
    .regex(/^[A-Za-z@_][A-Za-z0-9@_.-]{0,63}$/, 'needs a name such as level')
    .default('severity')
    .describe('Name of the field that holds a line’s level.'),
  DEBUG: z.string().optional().describe('`1` or `true`: like LOG_LEVEL=debug.'),
};

/** How a process writes its log. */
export interface LogSettings {
  /** One of pino's levels; `silent` writes nothing. */
  readonly level: string;
  /** False: lines of text. [true] */
  readonly json?: boolean;
  /** Name of the field of the level. [severity] */
  readonly levelKey?: string;
}

type LogVariables = z.output<z.ZodObject<typeof logVariables>>;

/** DEBUG lowers the level, never raises it. Its other values belong to libraries that read it too. */
export function logSettings({ LOG_LEVEL, LOG_JSON, LOG_JSON_LEVEL_KEY, DEBUG }: LogVariables): LogSettings {
  const debug = DEBUG === '1' || DEBUG?.toLowerCase() === 'true';
  const level = debug && LEVELS.indexOf(LOG_LEVEL) > LEVELS.indexOf('debug') ? 'debug' : LOG_LEVEL;
  return { level, json: LOG_JSON, levelKey: LOG_JSON_LEVEL_KEY };
}
