import type { IngestTokens } from '@slipway/auth/ingest-token';
import type { IngestClaims } from '@slipway/contracts/events';
import { notFound, SlipwayError } from '@slipway/errors';
import { currentContext } from '@slipway/telemetry';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { BodyDeadlines } from './body-deadlines.js';
import { bytesOf, IngestRoom } from './ingest-room.js';

const Params = z.object({ conversation: z.uuid() });

/** What a request needs before its body is read: a token for its conversation, and room. */
export class IngestAdmission {
  /** Of requests whose token was verified. */
  private readonly verified = new WeakMap<FastifyRequest, IngestClaims>();
  private readonly room = new IngestRoom();
  private readonly deadlines = new BodyDeadlines(() => performance.now());

  constructor(private readonly tokens: IngestTokens) {}

  /** @throws SlipwayError `auth.missing` for a request that was not authenticated. */
  claimsOf(request: FastifyRequest): IngestClaims {
    const claims = this.verified.get(request);
    if (claims === undefined) throw new SlipwayError('auth.missing', 'An ingest token is needed.');
    return claims;
  }

  /** Notes the claims of the caller's token, if it is for this conversation. */
  async authenticate(request: FastifyRequest): Promise<void> {
    const claims = await this.tokens.verify(request.headers.authorization);
    if (
      !Params.safeParse(request.params).success ||
      (request.params as { conversation: string }).conversation.toLowerCase() !== claims.conversation.toLowerCase()
    )
      throw notFound();
    const context = currentContext();
    if (context !== undefined) {
      context.orgId = claims.org;
      context.conversationId = claims.conversation;
    }
    this.verified.set(request, claims);
  }

  /**
   * Waits for room for the body, which is read after this, and is given as long as it needs at a pace that is none of a
   * slow client.
   */
  async takeRoom(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (request.method !== 'POST') return;
    const { org, conversation } = this.claimsOf(request);
    const leave = await this.room.enter(org, conversation, request.headers['content-length']);
    if (reply.raw.closed) return leave();
    reply.raw.once('close', leave);
    const cut = (): void => {
      // The remainder is not awaited: the connection ends with the answer.
      void reply.header('connection', 'close');
      request.raw.emit(
        'error',
        new SlipwayError('request.too-slow', 'The body of this batch did not come in the time that it may take.'),
      );
    };
    const read = this.deadlines.watch(bytesOf(request.headers['content-length']), cut);
    request.raw.once('end', read);
    reply.raw.once('close', read);
  }
}
