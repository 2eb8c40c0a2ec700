import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { SandboxTokens, VerifiedToken } from '@slipway/auth/sandbox-access';
import { agentWorkOf, isMessageFrame, steersBySocket, steersSandbox, takesMessages } from '@slipway/contracts/agent';
import { ENTER_PATH, SANDBOX_PORTS } from '@slipway/contracts/sandboxes';
import type { OpenSeats } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import type { Agent } from 'undici';
import type { AccessHandler } from './access/access-handler.js';
import { accessCookieName, assertOwnOrigin, type Credential, credentialOf } from './access/credentials.js';
import type { EndOfUse, GrantWatch } from './access/grant-watch.js';
import type { LiveGrant } from './access/grants.queries.js';
import type { Spending } from './access/spending.js';
import type { Steering } from './access/steering.js';
import type { UsersWork } from './access/users-work.js';
import type { GatewayMetrics } from './metrics.js';
import { answerProblem, type ProblemAnswers, refuseUpgrade } from './problem-answer.js';
import type { AdmitFrame } from './proxy/client-frames.js';
import { isFirstFrameSocket, relayAfterFirstFrame } from './proxy/first-frame.js';
import { forward } from './proxy/http-forward.js';
import { agentServerHeaders, assertFewHeaders, requestHeaders } from './proxy/request-headers.js';
import { responseHeaders } from './proxy/response-headers.js';
import { openTunnel } from './proxy/upgrade.js';
import type { Addresses, SandboxAddress } from './routing/address.js';
import type { Locator } from './sandboxes/locator.js';
import type { Visitors } from './visitors.js';

export interface SandboxProxyOptions {
  readonly addresses: Addresses;
  readonly tokens: SandboxTokens;
  readonly grants: GrantWatch;
  readonly accessHandler: AccessHandler;
  readonly locator: Locator;
  readonly agent: Agent;
  readonly visitors: Visitors;
  readonly seats: OpenSeats;
  readonly work: UsersWork;
  readonly spending: Spending;
  readonly steering: Steering;
  /** How long what is open goes on while the database does not answer. Milliseconds. */
  readonly graceMs: number;
  readonly metrics: GatewayMetrics;
  readonly logger: Logger;
  readonly publicUrl: string;
  readonly gatewayUrl: string;
}

/** Close codes of a first-frame socket whose access is over: 4001 is fatal to its client, 1013 makes it come back. */
const CLOSED_BY: Record<EndOfUse, [code: number, reason: string]> = {
  ended: [4001, 'access has ended'],
  unknown: [1013, 'access cannot be checked now'],
};
/** Close code of every socket of a replica that goes: its client comes back, to another one. */
const RESTART = [1012, 'the gateway is restarting; connect again'] as const;

/**
 * OpenHands' clients probe an agent-server without their key first. The answer is that the gateway is there, whatever
 * sandbox they name.
 */
function isProbe({ method }: IncomingMessage, { port, path }: SandboxAddress): boolean {
  return method === 'GET' && isAgentServer({ port }) && path === '/health';
}

function isAgentServer({ port }: Pick<SandboxAddress, 'port'>): boolean {
  return port === SANDBOX_PORTS['agent-server'];
}

/** Who comes in, and to which port of which sandbox. Everything that is let in is ended again when its access is. */
export class SandboxProxy {
  private readonly scheme: 'http' | 'https';
  private readonly cookieName: string;
  private readonly frameOrigin: string;
  private readonly answers: ProblemAnswers;

  constructor(private readonly options: SandboxProxyOptions) {
    this.scheme = new URL(options.gatewayUrl).protocol === 'https:' ? 'https' : 'http';
    this.cookieName = accessCookieName(this.scheme === 'https');
    this.frameOrigin = new URL(options.publicUrl).origin;
    this.answers = options;
  }

  /** False: the request is not for a sandbox. */
  serve(request: IncomingMessage, response: ServerResponse): boolean {
    let address: SandboxAddress | null;
    try {
      assertFewHeaders(request);
      address = this.options.addresses.read(request.headers.host, request.url ?? '');
    } catch (error) {
      this.count('http', answerProblem(request, response, error, this.answers));
      return true;
    }
    if (address === null) return false;
    void this.proxy(request, response, address);
    return true;
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    void this.tunnel(request, socket as Socket, head).catch((error: unknown) =>
      this.count('socket', refuseUpgrade(socket, error, this.answers)),
    );
  }

  private async proxy(request: IncomingMessage, response: ServerResponse, address: SandboxAddress): Promise<void> {
    const { metrics, accessHandler, locator, grants, work } = this.options;
    const seconds = metrics.seconds.startTimer({ kind: 'http' });
    metrics.open.inc({ kind: 'http' });
    let done = (): void => {};
    let noted = (): void => {};
    let leaveSeat = (): void => {};
    let outcome = 'ok';
    const ended = new AbortController();
    // An answer under way is broken off; one that has not begun says why.
    const end = (why: SlipwayError): void => {
      ended.abort(why);
      if (response.headersSent) response.destroy();
    };
    const over = this.options.visitors.request(() => end(leaving()));
    try {
      if (address.way === 'host' && address.path.startsWith('/.slipway/')) {
        if (address.path.split('?', 1)[0] !== ENTER_PATH)
          throw new SlipwayError('resource.not-found', 'There is no such address.');
        await accessHandler.enter(request, response, address, this.ownOrigin(request));
        return;
      }
      if (isProbe(request, address) && credentialOf(request, address, this.cookieName) === null) {
        response
          .writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' })
          .end('{"status":"ok"}');
        return;
      }
      const { credential, verified, grant } = await this.admit(request, address, 'request');
      leaveSeat = this.takeSeat(grant);
      const agentWork = isAgentServer(address) ? agentWorkOf(request.method ?? 'GET', address.path) : null;
      const paid = agentWork === null ? {} : await this.options.spending.spend(grant, agentWork, ended.signal);
      if (steersSandbox(request.method ?? 'GET', address.port, address.path))
        noted = await this.options.steering.hold(grant, end);
      const found = locator.find(grant.orgId, address.conversation, address.port);
      const target = found instanceof Promise ? await found : found;
      const renewedCookie = credential.from === 'cookie' ? await accessHandler.renewed(verified, grant) : null;
      const unused = grants.use(grant, (why) => {
        metrics.cut.inc({ why });
        end(endOf(why));
      });
      work.request(grant, request);
      // What took long was used until now.
      done = () => {
        unused();
        work.request(grant, request);
      };
      await forward(
        this.options.agent,
        { request, response },
        {
          origin: target.origin,
          path: address.path,
          headers: [
            ...Object.entries(paid).flat(),
            ...requestHeaders(request, { address, target, user: grant.user, scheme: this.scheme }),
          ],
          signal: ended.signal,
        },
        (_status, headers) => responseHeaders(headers, { frameOrigin: this.frameOrigin, address, renewedCookie }),
      ).catch((error: unknown) => {
        locator.forget(grant.orgId, address.conversation);
        throw error;
      });
    } catch (error) {
      outcome = answerProblem(request, response, error, this.answers);
    } finally {
      done();
      noted();
      leaveSeat();
      over();
      metrics.open.dec({ kind: 'http' });
      seconds();
      this.count('http', outcome);
    }
  }

  private async tunnel(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    const { addresses, locator, work } = this.options;
    assertFewHeaders(request);
    const address = addresses.read(request.headers.host, request.url ?? '');
    if (address === null) throw new SlipwayError('resource.not-found', 'There is no socket at this address.');
    const upgrade = request.headers.upgrade ?? '';
    if (request.method !== 'GET' || upgrade.toLowerCase() !== 'websocket')
      throw new SlipwayError('request.invalid', 'Only WebSockets are upgraded.');
    if (this.options.visitors.leaving) throw leaving();
    if (credentialOf(request, address, this.cookieName) === null && isFirstFrameSocket(address.path))
      return this.firstFrame(request, socket, head, address);
    const seconds = this.options.metrics.seconds.startTimer({ kind: 'socket' });
    const { grant } = await this.admit(request, address, 'upgrade');
    const leaveSeat = this.takeSeat(grant);
    // Whatever becomes of it, the socket closes once.
    socket.once('close', leaveSeat);
    if (socket.destroyed) return leaveSeat();
    const target = await locator.find(grant.orgId, address.conversation, address.port);
    if (socket.destroyed) return;
    const rules = { frameOrigin: this.frameOrigin, address, renewedCookie: null };
    const tunnel = await openTunnel(
      socket,
      head,
      {
        origin: target.origin,
        path: address.path,
        headers: requestHeaders(request, { address, target, user: grant.user, scheme: this.scheme }),
        upgrade,
      },
      {
        answer: (headers) => responseHeaders(headers, rules),
        said: work.socket(grant, request),
        admit: this.framesOf(grant, address),
      },
    ).catch((error: unknown) => {
      locator.forget(grant.orgId, address.conversation);
      throw error;
    });
    seconds();
    this.count('socket', 'ok');
    if (tunnel === null) return;
    const over = this.opened(
      grant,
      () => tunnel.destroy(),
      () => tunnel.leave(...RESTART),
    );
    void tunnel.closed.then(over);
  }

  private firstFrame(request: IncomingMessage, socket: Socket, head: Buffer, address: SandboxAddress): Promise<void> {
    return relayAfterFirstFrame(request, socket, head, async (token) => {
      const grant = await this.grantOf(await this.options.tokens.verify(token), address);
      const leaveSeat = this.takeSeat(grant);
      socket.once('close', leaveSeat);
      if (socket.destroyed) leaveSeat();
      const target = await this.options.locator.find(grant.orgId, address.conversation, address.port);
      this.count('socket', 'ok');
      return {
        url: `${target.origin.replace(/^http/, 'ws')}${address.path}`,
        headers: agentServerHeaders(target, grant.user),
        said: this.options.work.socket(grant, request),
        admit: this.framesOf(grant, address),
        use: (end) =>
          this.opened(
            grant,
            (why) => end(...CLOSED_BY[why]),
            () => end(...RESTART),
          ),
      };
    });
  }

  /** Counts a socket among the open ones until the answer is called; ends it with its access. */
  private opened(grant: LiveGrant, end: (why: EndOfUse) => void, leave: () => void): () => void {
    const { metrics, grants, visitors } = this.options;
    metrics.open.inc({ kind: 'socket' });
    const left = visitors.socket(leave);
    const done = grants.use(grant, (why) => {
      metrics.cut.inc({ why });
      end(why);
    });
    let over = false;
    return () => {
      if (over) return;
      over = true;
      done();
      left();
      metrics.open.dec({ kind: 'socket' });
    };
  }

  /**
   * What comes by a socket counts for who sends it before the sandbox has it: a message of the agent-server's costs
   * their money, anything else steers by files and programs. Who only watches pays nothing and steers nothing.
   */
  private framesOf(grant: LiveGrant, address: SandboxAddress): AdmitFrame | null {
    if (steersBySocket(address.port, address.path))
      return () => this.options.steering.note(grant, this.options.graceMs);
    if (!isAgentServer(address) || !takesMessages(address.path)) return null;
    return async (text) => {
      if (text === null || isMessageFrame(text)) await this.options.spending.spend(grant, 'pays');
    };
  }

  /** @throws SlipwayError `stream.limit` when the user or the organization has all that they may have open here. */
  private takeSeat({ orgId, userId }: LiveGrant): () => void {
    const seat = this.options.seats.take({ user: userId, org: orgId });
    if (typeof seat !== 'string') return seat;
    const whose = seat === 'user' ? 'You have' : 'Your organization has';
    throw new SlipwayError('stream.limit', `${whose} as many connections to sandboxes open as may be.`, {
      retryAfterSeconds: 10,
    });
  }

  private async admit(
    request: IncomingMessage,
    address: SandboxAddress,
    kind: 'request' | 'upgrade',
  ): Promise<{ credential: Credential; verified: VerifiedToken; grant: LiveGrant }> {
    const credential = credentialOf(request, address, this.cookieName);
    if (credential === null)
      throw new SlipwayError(
        'auth.missing',
        'Open the sandbox from Slipway, or send a token of this conversation and port as Authorization: Bearer or X-Session-API-Key.',
      );
    if (credential.from === 'cookie') assertOwnOrigin(request, this.ownOrigin(request), kind);
    const verified =
      this.options.tokens.remembered(credential.token) ?? (await this.options.tokens.verify(credential.token));
    const grant = this.grantOf(verified, address);
    return { credential, verified, grant: grant instanceof Promise ? await grant : grant };
  }

  /** One token opens one port of one conversation, and nothing beside it. */
  private grantOf({ claims }: VerifiedToken, address: SandboxAddress): LiveGrant | Promise<LiveGrant> {
    if (claims.conversation !== address.conversation || claims.port !== address.port)
      throw new SlipwayError('auth.missing', 'This token is for another conversation or another port.');
    return this.options.grants.admit(claims);
  }

  private ownOrigin(request: IncomingMessage): string {
    return `${this.scheme}://${(request.headers.host ?? '').toLowerCase()}`;
  }

  private count(kind: 'http' | 'socket', outcome: string): void {
    this.options.metrics.requests.inc({ kind, outcome });
  }
}

function leaving(): SlipwayError {
  return new SlipwayError('service.unavailable', 'This replica of the gateway is about to end. Send it again.', {
    retryAfterSeconds: 1,
  });
}

function endOf(why: EndOfUse): SlipwayError {
  return why === 'ended'
    ? new SlipwayError('auth.missing', 'This access has ended.')
    : new SlipwayError('service.unavailable', 'Whether your access still holds cannot be checked now.', {
        retryAfterSeconds: 1,
      });
}
