import { listVariable, NEVER_PERMITTED, rangesVariable } from '@slipway/outside/variables';
import { parseConfig } from '@slipway/service';
import { logVariables } from '@slipway/telemetry';
import { z } from 'zod';

const port = z.coerce.number().int().min(0).max(65_535);
const secret = z.string().min(32, 'needs at least 32 characters');

export const ConfigSchema = z
  .object({
    NODE_ENV: z.enum(['development', 'test', 'production']).default('development'),
    ...logVariables,
    HOST: z.string().default('127.0.0.1'),
    /** Port of `/alive` and `/ready`. */
    PORT: port.default(3010),
    /**
     * Port of `/metrics`, and of `/ready` with its reasons: for Prometheus, never for clients. Absent: PORT + 100, or
     * any free one when PORT is 0.
     */
    METRICS_PORT: port.optional(),
    /** Address of the metrics port. Absent: HOST. */
    METRICS_HOST: z.string().optional(),
    /** Port that egress-proxy dials; nothing else may reach it. */
    BROKER_PORT: port.default(3011),
    /**
     * After SIGTERM, how long new connections are still served while `/ready` answers 503. Seconds; longer than load
     * balancers take to stop sending new ones.
     */
    DRAIN_SECONDS: z.coerce.number().min(0).max(600).default(0),
    /** Signs the first line of each connection; the same in egress-proxy. Secret. */
    BROKER_SECRET: secret,
    /** app-server's internal port, which opens credentials. */
    CREDENTIAL_CONTROL_URL: z.url({ protocol: /^https?$/ }),
    /** Signs what is asked there, and seals the answers; the same in app-server. Secret. */
    CREDENTIAL_CONTROL_SECRET: secret,
    /**
     * Certificate of the authority that sandboxes trust: a PEM file, or a folder of them, of which that of
     * BROKER_CA_KEY_FILE is used.
     */
    BROKER_CA_FILE: z.string().min(1),
    /** Its private key, P-256 as PEM. This process alone may read it. */
    BROKER_CA_KEY_FILE: z.string().min(1),
    /**
     * Networks of pods, services, nodes and API servers, comma-separated: never reached, even where they are public.
     */
    BROKER_CLUSTER_RANGES: rangesVariable,
    /** Private networks in which places are allowed, such as that of a git host of the company. */
    BROKER_PERMITTED_RANGES: rangesVariable,
    /** Resolvers, each with a port if it is not 53; absent: those of the host. */
    BROKER_DNS_SERVERS: listVariable,
    /**
     * How long a request waits for a user at a place that asks, before the client is answered 403. Seconds; shorter
     * than clients wait for an answer.
     */
    BROKER_HOLD_SECONDS: z.coerce.number().min(0).max(60).default(8),
    /** Open connections of all sandboxes; more are closed. */
    BROKER_MAX_CONNECTIONS: z.coerce.number().int().min(1).max(100_000).default(10_000),
    /** Connections that one sandbox may have at once; more are closed. */
    BROKER_CONNECTIONS_PER_SANDBOX: z.coerce.number().int().min(1).max(10_000).default(256),
    /** Longest silence of both ends of a connection. Seconds. */
    BROKER_IDLE_SECONDS: z.coerce.number().min(1).max(86_400).default(300),
    /** Largest body of one request, such as a push. Bytes. */
    BROKER_MAX_BODY_BYTES: z.coerce
      .number()
      .int()
      .min(1024)
      .default(2 * 1024 ** 3),
  })
  .refine((env) => env.NODE_ENV !== 'production' || !env.BROKER_PERMITTED_RANGES.overlaps(NEVER_PERMITTED), {
    path: ['BROKER_PERMITTED_RANGES'],
    message: 'has loopback, link-local, metadata or multicast addresses in it, which no credential may go to',
  })
  .refine((env) => !env.BROKER_PERMITTED_RANGES.overlaps(env.BROKER_CLUSTER_RANGES), {
    path: ['BROKER_PERMITTED_RANGES'],
    message: 'has addresses of BROKER_CLUSTER_RANGES in it, which no sandbox may reach',
  });

export type Config = Readonly<z.infer<typeof ConfigSchema>>;

/** @throws SlipwayError `config.invalid` that names every invalid variable and never its value. */
export function loadConfig(source: Readonly<Record<string, string | undefined>>): Config {
  return parseConfig(ConfigSchema, source);
}
