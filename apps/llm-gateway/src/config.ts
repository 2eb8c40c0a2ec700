import { parseConfig } from '@slipway/errors';
import { logVariables } from '@slipway/telemetry';
import { z } from 'zod';

const OPENAI_URL = 'https://api.openai.com/v1';
const optional = <T extends z.ZodType>(schema: T) => z.preprocess((value) => (value === '' ? undefined : value), schema.optional());

export const ConfigSchema = z
  .object({
    NODE_ENV: z.enum(['development', 'test', 'production']).default('development'),
    ...logVariables,
    HOST: z.string().default('127.0.0.1'),
    PORT: z.coerce.number().int().min(0).max(65_535).default(3003),
    /** Where `/metrics` answers, and `/ready` with its reasons: for Prometheus, never for clients. Not given: PORT + 100, or any when PORT is 0. */
    METRICS_PORT: z.coerce.number().int().min(0).max(65_535).optional(),
    /** Address that it listens on. Not given: HOST. */
    METRICS_HOST: z.string().optional(),
    /** After SIGTERM, how long requests and new connections are still served while `/ready` says 503. Seconds; above what it takes until no load balancer sends any here. */
    DRAIN_SECONDS: z.coerce.number().min(0).max(600).default(0),
    /** Postgres, as the role slipway_gateway. Secret. */
    DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }),
    /** Makes and ends keys. Secret. */
    LLM_GATEWAY_MASTER_KEY: z.string().min(32),
    /** Any OpenAI-compatible server, up to and including `/v1`. OpenAI itself when only a key is given. */
    LLM_BASE_URL: optional(z.url({ protocol: /^https?$/ })),
    /** The provider's key. Secret. */
    LLM_API_KEY: optional(z.string().trim()),
    /** The model as the provider names it. */
    LLM_MODEL: optional(z.string().trim().max(200)),
    /** A JSON file of models, each with the places that answer to it (docs/operate/models.md). Keys stand in variables that it names. */
    LLM_MODELS_FILE: optional(z.string()),
    /** Whether keys of people's own may lead to addresses inside of the network. For development. */
    ALLOW_PRIVATE_URLS: z.stringbool().default(false),
    /** Folder of this replica alone: calls under way, and those that are not yet in Postgres, are kept there, so that they survive a kill. Without it each call waits for a commit of Postgres before it is sent. */
    DATA_DIR: optional(z.string()),
    /** Calls while Postgres is away and what this replica holds of their budgets and limits is used up: refused (closed), or let in and counted when it is back (open). */
    BUDGETS_WHEN_AWAY: z.enum(['closed', 'open']).default('closed'),
    /** What a replica that died holds of budgets is free again after this; twice the longest call, or more. Seconds. */
    BUDGET_HOLD_SECONDS: z.coerce.number().int().min(60).max(86_400).default(1_800),
    /** Longest wait for calls under way when they hold all that is left of a budget. Seconds. */
    BUDGET_WAIT_SECONDS: z.coerce.number().min(0).max(60).default(5),
    /** Answers to the same request of the same organization are given again for this long, without asking a model. Seconds; 0: off. */
    RESPONSE_CACHE_SECONDS: z.coerce.number().int().min(0).max(86_400).default(0),
    /** Memory for them, of each replica. MiB. */
    RESPONSE_CACHE_MIB: z.coerce.number().int().min(1).max(4_096).default(64),
    /** Prompts and answers are kept of organizations whose owners have said so (by-policy), secrets masked; or of nobody, whatever they say (never). */
    PROMPT_LOG: z.enum(['by-policy', 'never']).default('by-policy'),
    /** Folder on a developer’s own machine where each call is written as a file of text, with what looks like a secret masked. Refused in production. */
    LLM_DEBUG_LOG_DIR: optional(z.string().min(1)),
    /** Longest wait for the first byte of an answer: a model may think for minutes. Seconds. */
    LLM_FIRST_BYTE_TIMEOUT_SECONDS: z.coerce.number().positive().max(3600).default(300),
    /** Longest silence in the middle of an answer. Seconds. */
    LLM_SILENCE_TIMEOUT_SECONDS: z.coerce.number().positive().max(3600).default(120),
    /** Pause between two pieces of the demo model's text. Milliseconds; 0 for tests and benches. */
    DEMO_MODEL_DELAY_MS: z.coerce.number().int().min(0).max(1000).default(15),
    HTTP_PROXY: optional(z.url()),
    HTTPS_PROXY: optional(z.url()),
    NO_PROXY: optional(z.string()),
  })
  .refine((env) => (env.LLM_BASE_URL === undefined && env.LLM_API_KEY === undefined) || env.LLM_MODEL !== undefined, {
    path: ['LLM_MODEL'],
    message: 'name the model when LLM_BASE_URL or LLM_API_KEY is set',
  })
  .refine((env) => env.LLM_DEBUG_LOG_DIR === undefined || env.NODE_ENV !== 'production', {
    path: ['LLM_DEBUG_LOG_DIR'],
    message: 'is for a developer’s own machine, not for NODE_ENV=production; organizations keep their prompts by their policy',
  })
  .refine((env) => env.LLM_MODEL === undefined || env.LLM_BASE_URL !== undefined || env.LLM_API_KEY !== undefined, {
    path: ['LLM_BASE_URL'],
    message: 'LLM_MODEL is set, but neither LLM_BASE_URL nor LLM_API_KEY',
  });

export type Config = z.infer<typeof ConfigSchema> & {
  /** The variables that LLM_MODELS_FILE may name are in here. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** `null`: the models of the file, and the demo model. */
  readonly upstream: { readonly baseUrl: string; readonly apiKey: string | null; readonly model: string } | null;
};

/** @throws SlipwayError `config.invalid` that names every wrong variable and never its value. */
export function loadConfig(source: Readonly<Record<string, string | undefined>>): Config {
  const env = parseConfig(ConfigSchema, source);
  const upstream =
    env.LLM_MODEL === undefined
      ? null
      : { baseUrl: (env.LLM_BASE_URL ?? OPENAI_URL).replace(/\/+$/, ''), apiKey: env.LLM_API_KEY ?? null, model: env.LLM_MODEL };
  return { ...env, environment: source, upstream };
}
