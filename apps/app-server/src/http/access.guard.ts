import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ApiKeyUses, type Authenticated, bearerOf, PrincipalService } from '@slipway/auth';
import { type Operation, proofOf } from '@slipway/contracts/operations';
import { notFound, SlipwayError } from '@slipway/errors';
import { Counter, type Registry } from '@slipway/telemetry/http';
import type { FastifyReply } from 'fastify';
import { beingDeleted } from '../organizations/members/membership.queries.js';
import { METRICS } from '../platform/tokens.js';
import { Limits } from './limits.js';
import type { SlipwayRequest } from './request.js';
import { OPERATION, PROVES_ITSELF } from './serves.js';

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Authenticates and authorizes the caller for every handler: credential (401), rate of the caller (429), organization
 * (404), its rate, permission (403). An API key counts before the cookie, which is then ignored: what a header
 * authenticates, no other site's page can have sent.
 */
@Injectable()
export class AccessGuard implements CanActivate {
  private readonly refused: Counter<'code'>;

  constructor(
    private readonly reflector: Reflector,
    private readonly principals: PrincipalService,
    private readonly limits: Limits,
    private readonly uses: ApiKeyUses,
    @Inject(METRICS) metrics: Registry,
  ) {
    this.refused = new Counter({
      name: 'access_refused_total',
      help: 'Requests refused before their operation, by code; resource.not-found is an organization of other users',
      labelNames: ['code'],
      registers: [metrics],
    });
    for (const code of ['auth.missing', 'resource.not-found', 'permission.denied']) this.refused.inc({ code }, 0);
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    try {
      return await this.allows(context);
    } catch (error) {
      if (error instanceof SlipwayError) this.refused.inc({ code: error.code });
      throw error;
    }
  }

  private async allows(context: ExecutionContext): Promise<boolean> {
    if (context.getType() === 'ws') {
      this.assertAuthenticatesItself(context, 'a message of a socket');
      return true;
    }
    const request = context.switchToHttp().getRequest<SlipwayRequest>();
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    const operation = this.reflector.get<Operation | undefined>(OPERATION, context.getHandler());
    const bearer = bearerOf(request.headers.authorization) !== undefined;
    const byCookie = this.principals.hasCookie(request.headers.cookie) && (!bearer || operation === undefined);
    if (byCookie && !SAFE_METHODS.has(request.method)) this.principals.assertSameSite(request.headers);

    if (operation === undefined) {
      this.assertAuthenticatesItself(context, request.url);
      await this.limits.takeOfAddress(request.ip, reply);
      return true;
    }

    const found = await this.authenticate(request, operation, reply, bearer);
    if (found === null || operation.permission === null) return true;

    const org =
      (request.params as { org?: string }).org ??
      namedOrg(request) ??
      (found.kind === 'session' ? found.user.orgs[0]?.id : found.key.org.id);
    if (org === undefined) throw notFound();
    const authenticated = await this.principals.upToDate(found, org);
    if (authenticated.kind === 'session') request.user = authenticated.user;
    request.principal = this.principals.principalOf(authenticated, org);
    await this.limits.takeOfOrg(operation, request.principal.orgId, reply);
    if (!request.principal.permissions.has(operation.permission)) {
      throw new SlipwayError('permission.denied', `This needs the permission ${operation.permission}.`);
    }
    if (operation.whileDeleting !== true && !SAFE_METHODS.has(request.method))
      this.assertNotBeingDeleted(authenticated, request.principal.orgId);
    return true;
  }

  /** Nothing is open by omission: a handler outside of the operations says that it decides by itself. */
  private assertAuthenticatesItself(context: ExecutionContext, what: string): void {
    if (
      this.reflector.getAllAndOverride<string | undefined>(PROVES_ITSELF, [
        context.getHandler(),
        context.getClass(),
      ]) !== undefined
    )
      return;
    throw new SlipwayError('internal.unexpected', 'Quote the request id to support.', {
      internal: `${what} has a handler without permissions: add @Serves or @AuthenticatesItself`,
    });
  }

  /**
   * Only its owners still get into an organization that waits for its deletion, and nothing new begins there. An API
   * key does not get so far.
   */
  private assertNotBeingDeleted(authenticated: Authenticated, orgId: string): void {
    const deletesAt =
      authenticated.kind === 'session'
        ? (authenticated.user.orgs.find(({ id }) => id === orgId)?.deletesAt ?? null)
        : null;
    if (deletesAt !== null) throw beingDeleted(deletesAt);
  }

  private async authenticate(
    request: SlipwayRequest,
    operation: Operation,
    reply: FastifyReply,
    bearer: boolean,
  ): Promise<Authenticated | null> {
    const authenticated = await this.principals.authenticate(request.headers);
    if (authenticated === null) {
      await this.limits.takeOfAddress(request.ip, reply);
      if (operation.anonymous === true && !bearer) return null;
      throw new SlipwayError(
        'auth.missing',
        bearer ? 'The API key is not valid, or it is over.' : 'You are not signed in, or your session has ended.',
      );
    }
    request.authenticated = authenticated;
    if (authenticated.kind === 'session') {
      request.user = authenticated.user;
      await this.limits.takeOfCaller(operation, authenticated.user.userId, reply);
      if (operation.beforeGates !== true) this.principals.assertGatesPassed(authenticated);
      return authenticated;
    }
    const { keyId } = authenticated.key;
    this.uses.note(keyId, request.ip, `${operation.method} ${operation.path}`);
    await this.limits.takeOfCaller(operation, keyId, reply);
    if (proofOf(operation) === 'session')
      throw new SlipwayError(
        'auth.session-needed',
        `No API key can do this (${operation.id}); it is for a signed-in user.`,
      );
    if (operation.beforeGates !== true) this.principals.assertGatesPassed(authenticated);
    return authenticated;
  }
}

/** OpenHands' header: which organization a request is about whose address names none. */
function namedOrg({ headers }: SlipwayRequest): string | undefined {
  const named = headers['x-org-id'];
  return typeof named === 'string' && named !== '' ? named : undefined;
}
