import type { IngestTokens } from '@slipway/auth/ingest-token';
import { IngestDeltas, MAX_INGEST_BYTES } from '@slipway/contracts/events';
import { parseOrThrow, SlipwayError, toProblem } from '@slipway/errors';
import { currentContext, type Logger } from '@slipway/telemetry';
import { Counter, Histogram, type Registry } from '@slipway/telemetry/http';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { DeltaCoalescer } from './delta-coalescer.js';
import { assertOwnEpoch, type IngestService } from './ingest.service.js';
import { IngestAdmission } from './ingest-admission.js';

export interface IngestRoutesOptions {
  readonly ingest: IngestService;
  readonly deltas: DeltaCoalescer;
  readonly tokens: IngestTokens;
  readonly metrics: Registry;
  readonly logger: Logger;
  readonly docsUrl: string;
}

const CONVERSATION = '/ingest/v1/conversations/:conversation';
const RehydrateQuery = z.object({
  after: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(1000).default(500),
});

/**
 * `/ingest/v1/conversations/{id}`, straight on the HTTP server: sandboxes call it with every event, so nothing of the
 * framework stands before it. A token opens exactly the conversation and the epoch that it names.
 */
export function installIngestRoutes(fastify: FastifyInstance, options: IngestRoutesOptions): void {
  const admission = new IngestAdmission(options.tokens);
  const metrics = ingestMetrics(options.metrics);

  void fastify.register(async (scope) => {
    // Before the body is read: megabytes of JSON are not parsed without a token.
    scope.addHook('onRequest', (request) => admission.authenticate(request));
    scope.addHook('onRequest', (request, reply) => admission.takeRoom(request, reply));
    readAnyJson(scope);
    scope.setErrorHandler((thrown, _request, reply) => {
      const problem = toProblem(fromFastify(thrown), { docsUrl: options.docsUrl, ...requestIdOf() });
      metrics.refused.inc({ code: problem.body.code });
      if (problem.status >= 500)
        options.logger.error(
          { err: problem.error, code: problem.error.code, cause: problem.error.more.cause },
          'ingest failed',
        );
      return reply.code(problem.status).headers(problem.headers).type('application/problem+json').send(problem.body);
    });
    appendEvents(scope, admission, options, metrics);
    sendDeltas(scope, admission, options);
    rehydrate(scope, admission, options);
    readApprovals(scope, admission, options);
  });
}

type Ingest = Pick<IngestRoutesOptions, 'ingest'>;

function appendEvents(
  scope: FastifyInstance,
  admission: IngestAdmission,
  { ingest, deltas }: Pick<IngestRoutesOptions, 'ingest' | 'deltas'>,
  { seconds, stored }: IngestMetrics,
): void {
  scope.post(`${CONVERSATION}/events`, { bodyLimit: MAX_INGEST_BYTES }, async (request) => {
    const claims = admission.claimsOf(request);
    const started = performance.now();
    deltas.flush(claims.conversation);
    const ack = await ingest.ingest(claims, request.body);
    seconds.observe((performance.now() - started) / 1000);
    stored.inc(ack.stored);
    return { ackedProducerSeq: ack.ackedProducerSeq, head: ack.head };
  });
}

function sendDeltas(
  scope: FastifyInstance,
  admission: IngestAdmission,
  { ingest, deltas }: Pick<IngestRoutesOptions, 'ingest' | 'deltas'>,
): void {
  scope.post(`${CONVERSATION}/deltas`, { bodyLimit: MAX_INGEST_BYTES }, async (request, reply) => {
    const claims = admission.claimsOf(request);
    const body = parseOrThrow(IngestDeltas, request.body);
    assertOwnEpoch(claims, body);
    ingest.assertCurrent(claims);
    deltas.add(claims.org, claims.conversation, body.deltas);
    return reply.code(204).send();
  });
}

function rehydrate(scope: FastifyInstance, admission: IngestAdmission, { ingest }: Ingest): void {
  scope.get(`${CONVERSATION}/events`, async (request, reply) => {
    const claims = admission.claimsOf(request);
    const { after, limit } = parseOrThrow(RehydrateQuery, request.query);
    return reply.type('application/json').send(await ingest.rehydrate(claims, after, limit));
  });
}

function readApprovals(scope: FastifyInstance, admission: IngestAdmission, { ingest }: Ingest): void {
  scope.get(`${CONVERSATION}/approvals`, (request) => ingest.approvals(admission.claimsOf(request)));
}

interface IngestMetrics {
  readonly seconds: Histogram;
  readonly stored: Counter;
  readonly refused: Counter<'code'>;
}

function ingestMetrics(registry: Registry): IngestMetrics {
  return {
    seconds: new Histogram({
      name: 'ingest_batch_seconds',
      help: 'Time from the receipt of a whole batch to its commit',
      buckets: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2],
      registers: [registry],
    }),
    stored: new Counter({ name: 'ingest_events_total', help: 'Events stored', registers: [registry] }),
    refused: new Counter({
      name: 'ingest_refused_total',
      help: 'Batches refused, by code',
      labelNames: ['code'],
      registers: [registry],
    }),
  };
}

/**
 * Fastify's own parser refuses keys like __proto__; events carry whatever an agent wrote, and nothing here merges them
 * into other objects.
 */
function readAnyJson(scope: FastifyInstance): void {
  scope.removeContentTypeParser('application/json');
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
