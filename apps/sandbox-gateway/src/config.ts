import { SANDBOX_BACKEND_NAMES, SANDBOX_BACKENDS } from '@slipway/contracts/sandboxes';
import { parseConfig } from '@slipway/service';
import { logVariables } from '@slipway/telemetry';
import { z } from 'zod';

const secret = z.string().min(32, 'needs at least 32 characters');
const httpUrl = z.url({ protocol: /^https?$/ });

export const ConfigSchema = z
  .object({
    NODE_ENV: z.enum(['development', 'test', 'production']).default('development'),
    ...logVariables,
    HOST: z.string().default('127.0.0.1'),
    PORT: z.coerce.number().int().min(0).max(65_535).default(3006),
    /**
     * Port of `/metrics`, and of `/ready` with its reasons: for Prometheus, never for clients. Absent: PORT + 100, or
     * any free one when PORT is 0.
     */
    METRICS_PORT: z.coerce.number().int().min(0).max(65_535).optional(),
    /** Address of the metrics port. Absent: HOST. */
    METRICS_HOST: z.string().optional(),
    /** Requests under way and sockets that one user may have open on one replica. Every replica allows as many. */
    STREAMS_PER_USER: z.coerce.number().int().min(1).max(1_000_000).default(500),
    /** The same for all users and keys of one organization together, on one replica. */
    STREAMS_PER_ORG: z.coerce.number().int().min(1).max(1_000_000).default(10_000),
    /**
     * After SIGTERM, how long requests and new connections are still served while `/ready` answers 503. Seconds; longer
     * than load balancers take to stop sending new ones.
     */
    DRAIN_SECONDS: z.coerce.number().min(0).max(600).default(0),
    /**
     * Address of Slipway itself for browsers: tickets are accepted from its pages only, and it alone may show a sandbox
     * in a frame. The same as app-server's.
     */
    PUBLIC_URL: httpUrl.default('http://127.0.0.1:3000'),
    /**
     * Address of this gateway for browsers and clients, an origin of its own. A sandbox's port is
     * `{port}-{conversation}.` before its host (a wildcard name and certificate), and `/{conversation}/{port}/` on it.
     * The same as app-server's.
     */
    SANDBOX_GATEWAY_URL: httpUrl.default('http://localhost:3006'),
    /** Verifies tokens and tickets for access to sandboxes; the same in app-server. Secret. */
    SANDBOX_ACCESS_SECRET: secret,
    /** Postgres, as the role slipway_sandbox, for access checks. Secret. */
    DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }),
    RUNTIME_API_URL: httpUrl,
    RUNTIME_API_KEY: secret,
    /**
     * As runtime-api's. With `process` only a sandbox's agent-server is reachable: every other port belongs to the
     * host.
     */
    SANDBOX_BACKEND: z.enum(SANDBOX_BACKEND_NAMES).default('process'),
    /**
     * How long open sockets and downloads go on while their access cannot be checked. Seconds; new requests are refused
     * after one.
     */
    SANDBOX_GATEWAY_GRACE_SECONDS: z.coerce.number().min(1).max(60).default(5),
    /**
     * Longest silence of a client or a sandbox within a request, and longest wait for the first byte of an answer.
     * Seconds; a command may run for an hour.
     */
    SANDBOX_GATEWAY_SILENCE_SECONDS: z.coerce.number().min(1).max(86_400).default(3_600),
  })
  .refine((env) => env.NODE_ENV !== 'production' || SANDBOX_BACKENDS[env.SANDBOX_BACKEND].isolated, {
    path: ['SANDBOX_BACKEND'],
    message: 'process is for a developer’s own machine; use kubernetes in production',
  })
  .refine((env) => new URL(env.SANDBOX_GATEWAY_URL).origin !== new URL(env.PUBLIC_URL).origin, {
    path: ['SANDBOX_GATEWAY_URL'],
    message: 'must be another origin than PUBLIC_URL: what runs in a sandbox must not share the origin of Slipway',
  })
  .refine((env) => new URL(env.SANDBOX_GATEWAY_URL).pathname === '/', {
    path: ['SANDBOX_GATEWAY_URL'],
    message: 'must be an origin, without a path',
  });

export type Config = Readonly<z.infer<typeof ConfigSchema>>;

/** @throws SlipwayError `config.invalid` that names every invalid variable and never its value. */
export function loadConfig(source: Readonly<Record<string, string | undefined>>): Config {
  return parseConfig(ConfigSchema, source);
}
