import { createHash, randomUUID } from 'node:crypto';
import type { McpServerConfig } from '@slipway/contracts/agent';
import { isMetadataHost } from '@slipway/net';
import { EGRESS_CA_FILE } from '../terminal/trust-bundle.js';

/**
 * A variable that names the processes of a server, so that those are found too that left its session. Its value begins
 * with the mark of the sandbox.
 */
export const MARK = 'SLIPWAY_MCP_SERVER';

/** What marks the servers of a sandbox, whichever of its tool processes started them. */
export function markOf(stateDirectory: string): string {
  return `${createHash('sha256').update(stateDirectory).digest('hex').slice(0, 16)}-`;
}

/** A server as it is reached: every text is what it will be, secrets too. Never logged. */
export type ServerSpec =
  | {
      readonly kind: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly cwd: string;
      readonly callMs: number;
    }
  | {
      readonly kind: 'remote';
      /** `any`: streamable HTTP, and server-sent events where that is not spoken. */
      readonly transport: 'http' | 'sse' | 'any';
      readonly url: URL;
      readonly headers: Readonly<Record<string, string>>;
      readonly proxy: ProxyVariables;
      /** File of what programs of the sandbox trust; `undefined`: what this process trusts. */
      readonly roots: string | undefined;
      readonly callMs: number;
    };

/** Where requests go out, as programs read it from their environment. */
export interface ProxyVariables {
  readonly http: string | undefined;
  readonly https: string | undefined;
  readonly none: string | undefined;
}

/** Its settings keep a server from being reached. Both are sentences for a user. */
export class NotReachable extends Error {
  override readonly name = 'NotReachable';
  constructor(
    message: string,
    readonly nextStep: string,
  ) {
    super(message);
  }
}

/** Longest call of a tool, where the server's settings do not say. Milliseconds. */
const CALL_MS = 300_000;
const CORRECT = 'Correct the settings of the server.';

/**
 * @param variables what `${NAME}` may name.
 * @param mark of the sandbox.
 * @param base environment of a program; a server's own variables come on top.
 * @throws NotReachable
 */
export function specOf(
  config: McpServerConfig,
  { variables, base, directory, mark }: { variables: Env; base: Env; directory: string; mark: string },
): ServerSpec {
  const text = (value: string): string => expand(value, variables);
  const texts = (record: Env): Record<string, string> =>
    Object.fromEntries(Object.entries(record).map(([name, value]) => [name, text(value)]));
  const callMs = config.timeout == null ? CALL_MS : config.timeout * 1000;
  if (config.url != null && config.transport !== 'stdio') {
    const url = addressOf(text(config.url));
    const { transport } = config;
    return {
      kind: 'remote',
      transport:
        transport === 'sse' ? 'sse' : transport != null ? 'http' : /\/sse\/?$/.test(url.pathname) ? 'sse' : 'any',
      url,
      headers: { ...texts(config.headers ?? {}), ...authHeaders(config.auth, text) },
      proxy: proxyOf(base),
      // With credential-broker's authority in it; a file that a user names is for their commands.
      roots: base[EGRESS_CA_FILE] === undefined ? undefined : base['SSL_CERT_FILE'],
      callMs,
    };
  }
  if (config.command == null) throw new NotReachable('It has neither a command nor an address.', CORRECT);
  return {
    kind: 'stdio',
    command: text(config.command),
    args: (config.args ?? []).map(text),
    env: { ...base, ...texts(config.env ?? {}), [MARK]: `${mark}${randomUUID()}` },
    cwd: config.cwd == null ? directory : text(config.cwd),
    callMs,
  };
}

type Env = Readonly<Record<string, string>>;

function addressOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new NotReachable('Its address is not one of http or https.', CORRECT);
  // Machines answer there what no server may be asked for: credentials of the machine. The network rules of the sandbox
  // are the barrier; this is the second.
  if (isMetadataHost(url.hostname))
    throw new NotReachable(`${url.hostname} is an address of the machine itself, and is not asked.`, CORRECT);
  return url;
}

function authHeaders(auth: McpServerConfig['auth'], text: (value: string) => string): Record<string, string> {
  if (auth == null) return {};
  if (typeof auth === 'string') {
    if (auth === 'oauth') throw NEEDS_USER;
    return { authorization: `Bearer ${text(auth)}` };
  }
  switch (auth.strategy) {
    case 'none':
      return {};
    case 'bearer':
      return { authorization: `Bearer ${text(auth.value ?? '')}` };
    case 'api_key':
      return { [auth.header_name ?? 'x-api-key']: text(auth.value ?? '') };
    case 'basic':
      return {
        authorization: `Basic ${Buffer.from(`${text(auth.username)}:${text(auth.password ?? '')}`).toString('base64')}`,
      };
    case 'header':
      return Object.fromEntries(Object.entries(auth.headers).map(([name, value]) => [name, text(value)]));
    case 'oauth2':
      throw NEEDS_USER;
  }
}

const NEEDS_USER = new NotReachable(
  'It needs a user who signs in with a browser (OAuth), which a sandbox cannot do.',
  'Make a token for it, keep that as a secret, and send it in a header.',
);

/** Simple names only; anything else stays as it is. @throws NotReachable for a name that nothing is known of. */
function expand(text: string, variables: Env): string {
  return text.replaceAll(
    /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g,
    (_whole, name: string, other: string | undefined) => {
      const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
      if (value !== undefined && value !== '') return value;
      if (other !== undefined) return other;
      throw new NotReachable(
        `It needs ${name}, which this conversation does not have.`,
        `Add a secret with the name ${name}, or correct the settings of the server.`,
      );
    },
  );
}

function proxyOf(env: Env): ProxyVariables {
  return {
    http: env['http_proxy'] ?? env['HTTP_PROXY'],
    https: env['https_proxy'] ?? env['HTTPS_PROXY'],
    none: env['no_proxy'] ?? env['NO_PROXY'],
  };
}
