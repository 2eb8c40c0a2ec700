import { z } from 'zod';

/** The way into a sandbox: app-server grants it, sandbox-gateway lets in whoever has it. */

/** Ports of a sandbox by name. Beside our own, OpenHands' names of what agents start. */
export const SANDBOX_PORTS = { 'agent-server': 8000, vscode: 60001, 'work-1': 12000, 'work-2': 12001 } as const;
const NAMES = Object.keys(SANDBOX_PORTS) as [keyof typeof SANDBOX_PORTS, ...Array<keyof typeof SANDBOX_PORTS>];

/** Never reached, whoever asks: action-server, which takes orders from agent-server alone. */
export const CLOSED_SANDBOX_PORTS: ReadonlySet<number> = new Set([8001]);
/** Below are the ports of a machine's own services. */
export const MIN_SANDBOX_PORT = 1024;

/**
 * sandbox-gateway notes at most once in this time that an access is in use: what it noted may be this much older than
 * the use. Seconds.
 */
export const SANDBOX_USE_NOTED_SECONDS = 60;

/** The number that a name or a decimal number means; `null` for what is neither or is closed. */
export function sandboxPortOf(given: string | number): number | null {
  const named = Object.hasOwn(SANDBOX_PORTS, given) ? SANDBOX_PORTS[given as keyof typeof SANDBOX_PORTS] : null;
  const port = named ?? (/^[1-9][0-9]{3,4}$/.test(String(given)) ? Number(given) : Number.NaN);
  return port >= MIN_SANDBOX_PORT && port <= 65_535 && !CLOSED_SANDBOX_PORTS.has(port) ? port : null;
}

/**
 * For agent-servers of earlier releases, which take its absence for the app: sandbox-gateway puts it first on whatever
 * it hands on. The app puts it on `/run`, so that such an agent-server refuses to take a run for a yes. Later ones ask
 * for a key (`CALLER_KEY_HEADER`). Any value.
 */
export const THROUGH_GATEWAY_HEADER = 'x-slipway-through';

/** `POST …/sandbox-access`. */
export const GrantSandboxAccess = z.object({
  port: z.union([z.enum(NAMES), z.int().min(1).max(65_535)]),
  /**
   * The access that the same user has to this port by the same sign-in or key is returned again while it lasts for
   * another hour, and no new one is made. Its last ticket, unless handed in, is replaced by that of the answer.
   */
  reuse: z.boolean().default(false),
});
export type GrantSandboxAccess = z.infer<typeof GrantSandboxAccess>;

/** Where on a sandbox's own origin a browser hands in its ticket. */
export const ENTER_PATH = '/.slipway/enter';

/**
 * What a browser posts to `ticket.url`, as a form, from a page of Slipway itself: any other page's is refused. It is
 * answered with a cookie and a redirect to `path` on the same origin.
 */
export const SandboxTicketForm = z.object({
  ticket: z.string().min(20).max(100),
  path: z.string().max(2000).default('/'),
});

export const SandboxAccess = z.object({
  id: z.string(),
  port: z.int(),
  /** The port on an origin of its own, with a slash at its end: for browsers, and for clients that resolve its name. */
  url: z.url(),
  /**
   * The same by path, for clients that send the token in a header. No cookie works there: every sandbox shares that
   * origin.
   */
  pathUrl: z.url(),
  /**
   * Send it as `Authorization: Bearer` or `X-Session-API-Key`, or as `session_api_key` in the first frame of an
   * agent-server socket. Never in a URL.
   */
  token: z.string(),
  /** When the token is over; ask again before that. Sockets that are open go on until the access ends. */
  expiresAt: z.iso.datetime(),
  /** For a browser, once: see `SandboxTicketForm`. */
  ticket: z.object({ value: z.string(), url: z.url(), expiresAt: z.iso.datetime() }),
  /** When the access itself ends, at the latest. */
  endsAt: z.iso.datetime(),
});
export type SandboxAccess = z.infer<typeof SandboxAccess>;

/** An access that holds, as it is listed: without token and ticket, which are in the answer of its grant alone. */
export const OpenSandboxAccess = SandboxAccess.pick({ id: true, port: true, url: true, endsAt: true }).extend({
  person: z.object({ id: z.string(), label: z.string() }),
  createdAt: z.iso.datetime(),
});
export type OpenSandboxAccess = z.infer<typeof OpenSandboxAccess>;

/** Most that the list holds; older ones are left out, and end with `DELETE …/sandbox-access` as all do. */
export const MAX_LISTED_SANDBOX_ACCESS = 200;

/** `GET …/sandbox-access`: newest first, whoever has them. */
export const SandboxAccessList = z.object({ data: z.array(OpenSandboxAccess) });
export type SandboxAccessList = z.infer<typeof SandboxAccessList>;

/**
 * Claims of a token (a JWT, HS256 with SANDBOX_ACCESS_SECRET, audience `slipway-sandbox-access`). `jti` is the access,
 * `sub` the user.
 */
export const SandboxAccessClaims = z.object({
  jti: z.string(),
  org: z.string(),
  sub: z.string(),
  conversation: z.uuid(),
  port: z.int().min(1).max(65_535),
});
export type SandboxAccessClaims = z.infer<typeof SandboxAccessClaims>;
