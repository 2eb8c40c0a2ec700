import type { IngestTokens } from '@slipway/auth/ingest-token';
import { type IngestClaims, IngestDeltas, MAX_INGEST_BYTES } from '@slipway/contracts/events';
import { notFound, parseOrThrow, SlipwayError, toProblem } from '@slipway/errors';
import { currentContext, type Logger } from '@slipway/telemetry';
import { Counter, Histogram, type Registry } from '@slipway/telemetry/http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { BodyDeadlines } from './body-deadlines.js';
import type { DeltaCoalescer } from './delta-coalescer.js';
import { assertOwnEpoch, type IngestService } from './ingest.service.js';
import { bytesOf, IngestRoom } from './ingest-room.js';

export interface IngestRoutesOptions {
  readonly ingest: IngestService;
  readonly deltas: DeltaCoalescer;
  readonly tokens: IngestTokens;
  readonly metrics: Registry;
  readonly logger: Logger;
  readonly docsUrl: string;
}

const Params = z.object({ conversation: z.uuid() });
const RehydrateQuery = z.object({
  after: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(1000).default(500),
});

/**
 * `/ingest/v1/conversations/{id}`, straight on the HTTP server: sandboxes call it with every event, so nothing of the
 * framework stands before it. A token opens exactly the conversation and the epoch that it names.
 */
export function installIngestRoutes(fastify: FastifyInstance, options: IngestRoutesOptions): void {
  const { ingest, deltas, tokens, logger, docsUrl } = options;
  const seconds = new Histogram({
    name: 'ingest_batch_seconds',
    help: 'Time from the receipt of a whole batch to its commit',
    buckets: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2],
    registers: [options.metrics],
  });
  const stored = new Counter({ name: 'ingest_events_total', help: 'Events stored', registers: [options.metrics] });
  const refused = new Counter({
    name: 'ingest_refused_total',
    help: 'Batches refused, by code',
    labelNames: ['code'],
    registers: [options.metrics],
  });

  /** Of requests whose token was verified. */
  const verified = new WeakMap<FastifyRequest, IngestClaims>();
  const claimsOf = (request: FastifyRequest): IngestClaims => {
    const claims = verified.get(request);
    if (claims === undefined) throw new SlipwayError('auth.missing', 'An ingest token is needed.');
    return claims;
  };
  /** Notes the claims of the caller's token, if it is for this conversation. */
  const prove = async (request: FastifyRequest): Promise<void> => {
    const claims = await tokens.verify(request.headers.authorization);
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
    verified.set(request, claims);
  };
  const room = new IngestRoom();
  const deadlines = new BodyDeadlines(() => performance.now());
  /**
   * Waits for room for the body, which is read after this, and is given as long as it needs at a pace that is none of a
   * slow client.
   */
  const takeRoom = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (request.method !== 'POST') return;
    const { org, conversation } = claimsOf(request);
    const leave = await room.enter(org, conversation, request.headers['content-length']);
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
    const read = deadlines.watch(bytesOf(request.headers['content-length']), cut);
    request.raw.once('end', read);
    reply.raw.once('close', read);
  };

  void fastify.register(async (scope) => {
    // Before the body is read: megabytes of JSON are not parsed without a token.
    scope.addHook('onRequest', prove);
    scope.addHook('onRequest', takeRoom);
    scope.removeContentTypeParser('application/json');
    // Fastify's own parser refuses keys like __proto__; events carry whatever an agent wrote, and nothing here merges
    // them into other objects.
    scope.addContentTypeParser(
      'application/json',
      { parseAs: 'string', bodyLimit: MAX_INGEST_BYTES },
      (_request, body, done) => {
        try {
          done(null, JSON.parse(body as string));
        } catch (error) {
          done(new SlipwayError('request.not-json', 'The body could not be read as JSON.', { cause: error }));
        }
      },
    );
    scope.setErrorHandler((thrown, _request, reply) => {
      const problem = toProblem(fromFastify(thrown), { docsUrl, ...requestIdOf() });
      refused.inc({ code: problem.body.code });
      if (problem.status >= 500)
        logger.error(
          { err: problem.error, code: problem.error.code, cause: problem.error.more.cause },
          'ingest failed',
        );
      return reply.code(problem.status).headers(problem.headers).type('application/problem+json').send(problem.body);
    });

    scope.post('/ingest/v1/conversations/:conversation/events', { bodyLimit: MAX_INGEST_BYTES }, async (request) => {
      const claims = claimsOf(request);
      const started = performance.now();
      deltas.flush(claims.conversation);
      const ack = await ingest.ingest(claims, request.body);
      seconds.observe((performance.now() - started) / 1000);
      stored.inc(ack.stored);
      return { ackedProducerSeq: ack.ackedProducerSeq, head: ack.head };
    });

    scope.post(
      '/ingest/v1/conversations/:conversation/deltas',
      { bodyLimit: MAX_INGEST_BYTES },
      async (request, reply) => {
        const claims = claimsOf(request);
        const body = parseOrThrow(IngestDeltas, request.body);
        assertOwnEpoch(claims, body);
        ingest.assertCurrent(claims);
        deltas.add(claims.org, claims.conversation, body.deltas);
        return reply.code(204).send();
      },
    );

    scope.get('/ingest/v1/conversations/:conversation/events', async (request, reply) => {
      const claims = claimsOf(request);
      const { after, limit } = parseOrThrow(RehydrateQuery, request.query);
      return reply.type('application/json').send(await ingest.rehydrate(claims, after, limit));
    });

    scope.get('/ingest/v1/conversations/:conversation/approvals', (request) => ingest.approvals(claimsOf(request)));
  });
}

function requestIdOf(): { requestId?: string } {
  const requestId = currentContext()?.requestId;
  return requestId === undefined ? {} : { requestId };
}

function fromFastify(thrown: unknown): unknown {
  if (thrown instanceof SlipwayError) return thrown;
  const { code, statusCode } = thrown as { code?: unknown; statusCode?: unknown };
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return new SlipwayError(
      'request.too-large',
      `A batch has at most ${MAX_INGEST_BYTES} bytes; send fewer events at once.`,
      { cause: thrown },
    );
  if (statusCode === 415)
    return new SlipwayError('request.not-json', 'Send content-type application/json.', { cause: thrown });
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500)
    return new SlipwayError('request.invalid', 'The request could not be read.', { cause: thrown });
  return thrown;
}
