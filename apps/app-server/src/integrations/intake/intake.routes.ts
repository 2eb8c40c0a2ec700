import { notFound, SlipwayError, toProblem } from '@slipway/errors';
import type { Delivery, Provider } from '@slipway/integrations';
import { mediaTypeOf } from '@slipway/integrations/deliveries';
import { currentContext, type Logger } from '@slipway/telemetry';
import { Counter, Histogram, type Registry } from '@slipway/telemetry/http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { DeliveryTarget, DeliveryTargets } from './delivery-target.js';
import type { Intake } from './intake.service.js';
import { IntakeRoom } from './intake-room.js';

export interface IntakeRoutesOptions {
  readonly intake: Intake;
  readonly targets: DeliveryTargets;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly metrics: Registry;
  readonly logger: Logger;
  readonly docsUrl: string;
  readonly room?: IntakeRoom;
}

/**
 * A refusal is answered at the next multiple of this after the body was there: its time reveals nothing about lookups
 * and comparisons. Milliseconds.
 */
const REFUSAL_GRID_MS = 25;

/**
 * `POST /api/integration/{service}/events[/{connection}]`, straight on the HTTP server: the bytes are what is signed,
 * so nothing of the framework touches them. The order of steps is that of docs/integrations: size and type, target by
 * address, signature, and only then is anything read. Answers 2xx to all that holds, whatever will be decided about it,
 * since providers switch off who answers otherwise.
 */
export function installIntakeRoutes(fastify: FastifyInstance, options: IntakeRoutesOptions): void {
  const { intake, targets, providers, logger, docsUrl, room = new IntakeRoom() } = options;
  const seconds = new Histogram({
    name: 'integration_delivery_seconds',
    help: 'Time from the receipt of a whole delivery to its answer',
    buckets: [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 2],
    registers: [options.metrics],
  });
  const taken = new Counter({
    name: 'integration_deliveries_total',
    help: 'Deliveries by provider and outcome',
    labelNames: ['provider', 'outcome'],
    registers: [options.metrics],
  });
  const refused = new Counter({
    name: 'integration_deliveries_refused_total',
    help: 'Deliveries that failed verification, by provider and reason',
    labelNames: ['provider', 'reason'],
    registers: [options.metrics],
  });

  const take = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { service, connection } = request.params as { service: string; connection?: string };
    const provider = providers.get(service);
    if (provider === undefined) throw notFound();
    const headers = headersOf(request);
    assertType(provider, headers);
    const target = connection === undefined ? targets.ofPlatform(provider) : await targets.of(provider, connection);
    const raw = await bodyOf(request, reply, { room, provider, target });
    const began = performance.now();
    const outcome = await intake.take(provider, target, { headers, raw });
    seconds.observe((performance.now() - began) / 1_000);
    if (outcome.outcome === 'refused') {
      refused.inc({ provider: provider.id, reason: outcome.refusal });
      const named =
        target.connection !== null && target.connection !== 'platform' ? { connection_id: target.connection.id } : {};
      logger.debug({ ...named, provider: provider.id, reason: outcome.refusal }, 'delivery refused');
      const elapsed = performance.now() - began;
      await new Promise((resolve) =>
        setTimeout(resolve, Math.ceil(elapsed / REFUSAL_GRID_MS) * REFUSAL_GRID_MS - elapsed),
      );
      throw new SlipwayError('delivery.refused', 'The delivery is not believed.');
    }
    taken.inc({ provider: provider.id, outcome: outcome.outcome });
    if (outcome.outcome === 'unclaimed')
      logger.info({ provider: provider.id }, 'delivery for an account that no organization has claimed');
    if (outcome.outcome === 'challenge') return reply.code(200).type('text/plain; charset=utf-8').send(outcome.answer);
    if (outcome.outcome === 'suggested')
      return reply.code(200).type('application/json; charset=utf-8').send(JSON.stringify(outcome.answer));
    return reply.code(200).send();
  };

  void fastify.register(async (scope) => {
    // Bodies are read by `bodyOf`, as bytes, whatever their type says.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    scope.setErrorHandler((thrown, _request, reply) => {
      const requestId = currentContext()?.requestId;
      const problem = toProblem(fromFastify(thrown), { docsUrl, ...(requestId === undefined ? {} : { requestId }) });
      if (problem.status >= 500)
        logger.error(
          { err: problem.error, code: problem.error.code, cause: problem.error.more.cause },
          'failed to accept a delivery',
        );
      return reply.code(problem.status).headers(problem.headers).type('application/problem+json').send(problem.body);
    });
    scope.post('/api/integration/:service/events', take);
    scope.post('/api/integration/:service/events/:connection', take);
  });
}

function fromFastify(thrown: unknown): unknown {
  if (thrown instanceof SlipwayError) return thrown;
  const { statusCode } = thrown as { statusCode?: unknown };
  if (statusCode === 415)
    return new SlipwayError('delivery.wrong-type', 'The content type cannot be read.', { cause: thrown });
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500)
    return new SlipwayError('request.invalid', 'The request could not be read.', { cause: thrown });
  return thrown;
}

interface IntakeTarget {
  readonly room: IntakeRoom;
  readonly provider: Provider;
  readonly target: DeliveryTarget;
}

/**
 * Waits for room, which is given back when the answer is sent. What was not read of a body that is refused is not
 * waited for.
 */
async function bodyOf(
  request: FastifyRequest,
  reply: FastifyReply,
  { room, provider, target }: IntakeTarget,
): Promise<Buffer> {
  const key =
    target.connection === null
      ? null
      : target.connection === 'platform'
        ? `platform ${provider.id}`
        : target.connection.id;
  const slot = await room.enter(key);
  if (reply.raw.closed) slot.leave();
  else reply.raw.once('close', () => slot.leave());
  const length = request.headers['content-length'];
  try {
    return await room.read(
      request.raw.iterator({ destroyOnReturn: false }),
      slot,
      provider.maxBytes,
      length === undefined ? undefined : Number(length),
    );
  } catch (error) {
    void reply.header('connection', 'close');
    throw error;
  }
}

/** @throws SlipwayError `delivery.wrong-type` */
function assertType(provider: Provider, headers: Delivery['headers']): void {
  const type = mediaTypeOf(headers);
  const isForm = provider.form && type === 'application/x-www-form-urlencoded';
  if (type !== 'application/json' && !isForm)
    throw new SlipwayError(
      'delivery.wrong-type',
      `Deliveries of ${provider.name} come as application/json${provider.form ? ' or as a form' : ''}.`,
    );
  // What was signed are the bytes that were sent; and what unpacks them may be made to unpack without end.
  if (headers['content-encoding'] !== undefined && headers['content-encoding'] !== 'identity')
    throw new SlipwayError('delivery.wrong-type', 'Deliveries come without a content encoding.');
}

/** A header that came twice keeps both values, so that a second signature is seen. */
function headersOf(request: FastifyRequest): Delivery['headers'] {
  return Object.fromEntries(
    Object.entries(request.raw.headersDistinct).map(([name, values]) => [
      name,
      values?.length === 1 ? values[0] : values,
    ]),
  );
}
