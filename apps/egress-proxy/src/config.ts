import { listVariable, NEVER_PERMITTED, portsVariable, rangesVariable } from '@slipway/outside/variables';
import { parseConfig } from '@slipway/service';
import { logVariables } from '@slipway/telemetry';
import { z } from 'zod';

/** `tcp://credential-broker:3011`; `http://` is read alike, for what looks like every other address. */
const brokerUrl = z
  .string()
  .regex(/^(?:tcp|http):\/\/(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):[1-9][0-9]{0,4}\/?$/, 'needs tcp://HOST:PORT')
  .transform((text) => {
    const [, host = '', port = ''] = /^[a-z]+:\/\/(.+):([0-9]+)\/?$/.exec(text) ?? [];
    return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
  })
  .refine(({ port }) => port <= 65_535, 'needs a port below 65536');

export const ConfigSchema = z
  .object({
    NODE_ENV: z.enum(['development', 'test', 'production']).default('development'),
    ...logVariables,
    HOST: z.string().default('127.0.0.1'),
    /** Port of `/alive` and `/ready`; no sandbox reaches it. */
    PORT: z.coerce.number().int().min(0).max(65_535).default(3007),
    /**
     * Port of `/metrics`, and of `/ready` with its reasons: for Prometheus, never for clients. Absent: PORT + 100, or
     * any free one when PORT is 0.
     */
    METRICS_PORT: z.coerce.number().int().min(0).max(65_535).optional(),
    /** Address of the metrics port. Absent: HOST. */
    METRICS_HOST: z.string().optional(),
    /** Port of the proxy itself. */
    EGRESS_PORT: z.coerce.number().int().min(0).max(65_535).default(3128),
    /**
     * After SIGTERM, how long new connections are still served while `/ready` answers 503. Seconds; longer than load
     * balancers take to stop sending new ones.
     */
    DRAIN_SECONDS: z.coerce.number().min(0).max(600).default(0),
    /** Signs the credentials of sandboxes; the same in runtime-api. Secret. */
    EGRESS_SECRET: z.string().min(32, 'needs at least 32 characters'),
    /**
     * Hosts that each class may reach: the JSON of `commonHosts`, `packageHosts` and `templates`, or the path of a file
     * with it. docs/operate/egress.md.
     */
    EGRESS_RULES: z.string().min(1),
    /**
     * app-server's internal port. With EGRESS_CONTROL_SECRET organizations allow hosts beside EGRESS_RULES; absent:
     * none.
     */
    EGRESS_CONTROL_URL: z.url({ protocol: /^https?$/ }).optional(),
    /** Signs what is asked there; the same in app-server. Secret. */
    EGRESS_CONTROL_SECRET: z.string().min(32, 'needs at least 32 characters').optional(),
    /**
     * Port of credential-broker for sandboxes' connections, `tcp://HOST:PORT`. With it app-server is asked about every
     * host, and connections to hosts for which a conversation has a credential are made there. Absent: none is.
     */
    BROKER_URL: brokerUrl.optional(),
    /** Signs what is said there of each connection; the same in credential-broker. Secret. */
    BROKER_SECRET: z.string().min(32, 'needs at least 32 characters').optional(),
    /** How long a connection waits for a user's answer. Seconds; package managers give up after 15. */
    EGRESS_HOLD_SECONDS: z.coerce.number().min(0).max(60).default(8),
    /** Hosts that organizations may allow: `any`, or those of the list such as `*.example.com`, comma-separated. */
    EGRESS_ORG_HOSTS: z.string().default('any'),
    /** Hosts that no organization may allow, comma-separated. */
    EGRESS_NEVER_HOSTS: listVariable,
    /**
     * Ports on which every listed host may be reached, comma-separated; an entry with a port of its own adds to them.
     * 22 for git over ssh.
     */
    EGRESS_PORTS: portsVariable.prefault('80,443'),
    /** Those of the ports that carry nothing but TLS to the requested server name. */
    EGRESS_TLS_PORTS: portsVariable.prefault('443'),
    /**
     * Accepts a credential from its own pod's address alone. `false` only where the cluster hides that address (source
     * NAT): a copied credential then works in every sandbox.
     */
    EGRESS_BIND_SOURCE: z
      .enum(['true', 'false'])
      .default('true')
      .transform((text) => text === 'true'),
    /**
     * Networks of pods, services, nodes and API servers, comma-separated: never reached, even where they are public.
     */
    EGRESS_CLUSTER_RANGES: rangesVariable,
    /** Private networks in which listed hosts are allowed, such as that of a mirror. */
    EGRESS_PERMITTED_RANGES: rangesVariable,
    /** Resolvers, each with a port if it is not 53; absent: those of the host. */
    EGRESS_DNS_SERVERS: listVariable,
    /** Connections that one sandbox may have at once. */
    EGRESS_CONNECTIONS_PER_SANDBOX: z.coerce.number().int().min(1).max(10_000).default(256),
    /** Connections and requests that one sandbox may begin, sustained over five seconds. Per second. */
    EGRESS_REQUESTS_PER_SECOND: z.coerce.number().int().min(1).max(10_000).default(100),
    /** Open connections of all sandboxes; more are closed. */
    EGRESS_MAX_CONNECTIONS: z.coerce.number().int().min(1).max(100_000).default(10_000),
    /** Longest silence of both ends of a connection. Seconds. */
    EGRESS_IDLE_SECONDS: z.coerce.number().min(1).max(86_400).default(300),
    /** Maximum age of a connection. Seconds. */
    EGRESS_MAX_SECONDS: z.coerce
      .number()
      .min(1)
      .max(7 * 86_400)
      .default(4 * 3_600),
    /** Bytes that one connection may carry, both directions together. */
    EGRESS_MAX_BYTES: z.coerce
      .number()
      .int()
      .min(1024)
      .default(8 * 1024 ** 3),
  })
  .refine((env) => env.NODE_ENV !== 'production' || !env.EGRESS_PERMITTED_RANGES.overlaps(NEVER_PERMITTED), {
    path: ['EGRESS_PERMITTED_RANGES'],
    message:
      'has loopback, link-local, metadata or multicast addresses in it, which nothing in a sandbox may reach; leave them out',
  })
  .refine((env) => (env.EGRESS_CONTROL_URL === undefined) === (env.EGRESS_CONTROL_SECRET === undefined), {
    path: ['EGRESS_CONTROL_URL'],
    message: 'needs EGRESS_CONTROL_SECRET, and that needs this',
  })
  .refine((env) => (env.BROKER_URL === undefined) === (env.BROKER_SECRET === undefined), {
    path: ['BROKER_URL'],
    message: 'needs BROKER_SECRET, and that needs this',
  })
  .refine((env) => env.BROKER_URL === undefined || env.EGRESS_CONTROL_URL !== undefined, {
    path: ['BROKER_URL'],
    message: 'needs EGRESS_CONTROL_URL: app-server says at which hosts a credential is used',
  })
  .refine((env) => !env.EGRESS_PERMITTED_RANGES.overlaps(env.EGRESS_CLUSTER_RANGES), {
    path: ['EGRESS_PERMITTED_RANGES'],
    message: 'has addresses of EGRESS_CLUSTER_RANGES in it, which no sandbox may reach',
  });

export type Config = Readonly<z.infer<typeof ConfigSchema>>;

/** @throws SlipwayError `config.invalid` that names every invalid variable and never its value. */
export function loadConfig(source: Readonly<Record<string, string | undefined>>): Config {
  return parseConfig(ConfigSchema, source);
}
