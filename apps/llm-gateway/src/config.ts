import { parseConfig } from '@slipway/service';
import { logVariables } from '@slipway/telemetry';
import { z } from 'zod';

const OPENAI_URL = 'https://api.openai.com/v1';
const optional = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (value === '' ? undefined : value), schema.optional());

export const ConfigSchema = z
  .object({
    NODE_ENV: z.enum(['development', 'test', 'production']).default('development'),
    ...logVariables,
    HOST: z.string().default('127.0.0.1'),
    PORT: z.coerce.number().int().min(0).max(65_535).default(3003),
    /**
     * Port of `/metrics`, and of `/ready` with its reasons: for Prometheus, never for clients. Absent: PORT + 100, or
     * any free one when PORT is 0.
     */
    METRICS_PORT: z.coerce.number().int().min(0).max(65_535).optional(),
    /** Address of the metrics port. Absent: HOST. */
    METRICS_HOST: z.string().optional(),
    /**
     * After SIGTERM, how long requests and new connections are still served while `/ready` answers 503. Seconds; longer
     * than load balancers take to stop sending new ones.
     */
    DRAIN_SECONDS: z.coerce.number().min(0).max(600).default(0),
    /** Postgres, as the role slipway_gateway. Secret. */
    DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }),
    /** Creates and revokes keys. Secret. */
    LLM_GATEWAY_MASTER_KEY: z.string().min(32),
    /** An OpenAI-compatible server, up to and including `/v1`. Absent, with a key: OpenAI itself. */
    LLM_BASE_URL: optional(z.url({ protocol: /^https?$/ })),
    /** The provider's key. Secret. */
    LLM_API_KEY: optional(z.string().trim()),
    /** Name of the model at the provider. */
    LLM_MODEL: optional(z.string().trim().max(200)),
    /**
     * JSON file of models, each with its deployments (docs/operate/models.md). Keys are in variables that the file
     * names.
     */
    LLM_MODELS_FILE: optional(z.string()),
    /** Allows private addresses for keys of users' own. For development. */
    ALLOW_PRIVATE_URLS: z.stringbool().default(false),
    /**
     * Folder of this replica alone, for calls under way and calls not yet in Postgres, so that they survive a kill.
     * Absent: each call waits for a commit of Postgres before it is sent.
     */
    DATA_DIR: optional(z.string()),
    /**
     * Calls while Postgres is unavailable and this replica has used up what it holds of their budgets and limits:
     * refused (closed), or admitted and counted later (open).
     */
    BUDGETS_WHEN_AWAY: z.enum(['closed', 'open']).default('closed'),
    /** Time after which the budgets held by a dead replica are released; at least twice the longest call. Seconds. */
    BUDGET_HOLD_SECONDS: z.coerce.number().int().min(60).max(86_400).default(1_800),
    /** Longest wait for calls under way that hold all that is left of a budget. Seconds. */
    BUDGET_WAIT_SECONDS: z.coerce.number().min(0).max(60).default(5),
    /** How long an answer is reused for the same request of the same organization. Seconds; 0: off. */
    RESPONSE_CACHE_SECONDS: z.coerce.number().int().min(0).max(86_400).default(0),
    /** Memory of the response cache, per replica. MiB. */
    RESPONSE_CACHE_MIB: z.coerce.number().int().min(1).max(4_096).default(64),
    /**
     * Whether prompts and answers are stored: for organizations whose owners enabled it, with secrets masked
     * (by-policy), or for none (never).
     */
    PROMPT_LOG: z.enum(['by-policy', 'never']).default('by-policy'),
    /**
     * Folder on a developer’s own machine for one text file per call, with what resembles a secret masked. Refused in
     * production.
     */
    LLM_DEBUG_LOG_DIR: optional(z.string().min(1)),
    /** Longest wait for the first byte of an answer; a model may think for minutes. Seconds. */
    LLM_FIRST_BYTE_TIMEOUT_SECONDS: z.coerce.number().positive().max(3600).default(300),
    /** Longest silence within an answer. Seconds. */
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
    message:
      'is for a developer’s own machine, not for NODE_ENV=production; organizations keep their prompts by their policy',
  })
  .refine((env) => env.LLM_MODEL === undefined || env.LLM_BASE_URL !== undefined || env.LLM_API_KEY !== undefined, {
    path: ['LLM_BASE_URL'],
    message: 'LLM_MODEL is set, but neither LLM_BASE_URL nor LLM_API_KEY',
  });

export type Config = z.infer<typeof ConfigSchema> & {
  /** The environment, with the variables that LLM_MODELS_FILE may name. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** `null`: the models of the file, and the demo model. */
  readonly upstream: { readonly baseUrl: string; readonly apiKey: string | null; readonly model: string } | null;
};

/** @throws SlipwayError `config.invalid` that names every invalid variable and never its value. */
export function loadConfig(source: Readonly<Record<string, string | undefined>>): Config {
  const env = parseConfig(ConfigSchema, source);
  const upstream =
    env.LLM_MODEL === undefined
      ? null
      : {
          baseUrl: (env.LLM_BASE_URL ?? OPENAI_URL).replace(/\/+$/, ''),
          apiKey: env.LLM_API_KEY ?? null,
          model: env.LLM_MODEL,
        };
  return { ...env, environment: source, upstream };
}
