import { parseConfig } from '@slipway/service';
import { logVariables } from '@slipway/telemetry';
import { z } from 'zod';

const httpUrl = z.url({ protocol: /^https?$/ });

export const ConfigSchema = z
  .object({
    ...logVariables,
    NODE_ENV: z.enum(['development', 'test', 'production']).default('development'),
    HOST: z.string().default('127.0.0.1'),
    PORT: z.coerce.number().int().min(0).max(65_535).default(3005),
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
    /** Address of the issuer for browsers and app-server; ends in `/realms/<realm>`. */
    ISSUER_URL: httpUrl
      .regex(/\/realms\/[a-z0-9-]+$/, 'ends in /realms/<realm>')
      .default('http://127.0.0.1:3005/realms/slipway'),
    /** Folder of accounts, sessions and keys, readable by the process's user only. */
    DATA_DIR: z.string().min(1),
    OIDC_CLIENT_ID: z.string().min(1).default('slipway-web'),
    /** Secret. */
    OIDC_CLIENT_SECRET: z.string().min(16),
    /** Callback address of the client. */
    REDIRECT_URI: httpUrl,
    POST_LOGOUT_REDIRECT_URI: httpUrl,
    /**
     * Where the client hears of ended sessions (back-channel logout). Absent: `/oauth/backchannel-logout` beside the
     * callback.
     */
    BACKCHANNEL_LOGOUT_URI: httpUrl.optional(),
  })
  .refine((env) => env.NODE_ENV !== 'production', {
    path: ['NODE_ENV'],
    message: 'this issuer has a user with a public password; use Keycloak in production',
  });

export type Config = Readonly<z.infer<typeof ConfigSchema>>;

/** @throws SlipwayError `config.invalid` that names every invalid variable, never its value. */
export function loadConfig(source: Readonly<Record<string, string | undefined>>): Config {
  return parseConfig(ConfigSchema, source);
}
