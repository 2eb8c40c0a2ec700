import { Readable, Transform } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { GitTokens } from '@slipway/auth/git-token';
import { SlipwayError, toProblem } from '@slipway/errors';
import { currentContext, type Logger } from '@slipway/telemetry';
import { Counter, type Registry } from '@slipway/telemetry/http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Admitted, GitAdmission, MAX_REQUEST_BYTES, reads } from './git-admission.js';
import type { GitRelay } from './git-relay.js';
import { type GitRequest, pktLine } from './git-request.js';

export interface GitRelayRoutesOptions {
  readonly relay: GitRelay;
  readonly tokens: GitTokens;
  readonly metrics: Registry;
  readonly logger: Logger;
  readonly docsUrl: string;
  readonly maxAnswerBytes?: number;
}

/** A pack of a repository with its history. Bytes. */
const MAX_ANSWER_BYTES = 16 * 1024 ** 3;
const PUSH_REFUSED = 'Slipway pushes for this conversation: ask for a pull request. Nothing was pushed.';

type Outcomes = Counter<'outcome'>;

/**
 * `/ingest/v1/conversations/{id}/git/{connection}/{owner}/{name}`: git's smart HTTP, reading alone, for the sandbox of
 * the conversation that the token names. Straight on the HTTP server: packs are streamed, and nothing of the framework
 * touches them.
 */
export function installGitRelayRoutes(fastify: FastifyInstance, options: GitRelayRoutesOptions): void {
  const admission = new GitAdmission(options.tokens);
  const answered = new Counter({
    name: 'git_relay_requests_total',
    help: 'Git requests of sandboxes, by outcome',
    labelNames: ['outcome'],
    registers: [options.metrics],
  });

  void fastify.register(async (scope) => {
    scope.addHook('onRequest', (request, reply) => admission.admit(request, reply));
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      'application/x-git-upload-pack-request',
      { parseAs: 'buffer', bodyLimit: MAX_REQUEST_BYTES },
      (_request, body, done) => done(null, body),
    );
    // Of what is refused no byte is read.
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    scope.setErrorHandler((thrown, _request, reply) => answerProblem(reply, thrown, options, answered));
    scope.route({
      method: ['GET', 'POST'],
      url: '/ingest/v1/conversations/:conversation/git/:connection/*',
      bodyLimit: MAX_REQUEST_BYTES,
      handler: (request, reply) => relayRead(request, reply, admission.of(request), { ...options, answered }),
    });
  });
}

async function relayRead(
  request: FastifyRequest,
  reply: FastifyReply,
  { claims, git, gone }: Admitted,
  {
    relay,
    maxAnswerBytes = MAX_ANSWER_BYTES,
    answered,
  }: Pick<GitRelayRoutesOptions, 'relay' | 'maxAnswerBytes'> & { readonly answered: Outcomes },
): Promise<FastifyReply> {
  if (!reads(git)) return refuse(reply, git, answered);
  const { connection } = request.params as { connection: string };
  const body = Buffer.isBuffer(request.body) ? request.body : null;
  const answer = await relay.ask({ claims, connection, request: git, headers: request.headers, body, gone });
  answered.inc({ outcome: 'passed' });
  const type = `application/x-git-upload-pack-${git.asks === 'refs' ? 'advertisement' : 'result'}`;
  void reply.header('cache-control', 'no-store').type(type);
  return reply.send(bounded(answer, maxAnswerBytes));
}

function refuse(reply: FastifyReply, { asks }: GitRequest, answered: Outcomes): FastifyReply {
  answered.inc({ outcome: asks === 'refused' ? 'not-git' : 'push' });
  // In git's own format, so that users read a reason: `remote error: …`.
  if (asks === 'push-refs')
    return reply
      .type('application/x-git-receive-pack-advertisement')
      .send(`${pktLine('# service=git-receive-pack\n')}0000${pktLine(`ERR ${PUSH_REFUSED}`)}`);
  void reply.header('connection', 'close');
  return reply
    .code(403)
    .type('text/plain; charset=utf-8')
    .send(`${asks === 'push' ? PUSH_REFUSED : 'Only git itself reads here.'}\n`);
}

function answerProblem(
  reply: FastifyReply,
  thrown: unknown,
  { logger, docsUrl }: Pick<GitRelayRoutesOptions, 'logger' | 'docsUrl'>,
  answered: Outcomes,
): FastifyReply {
  const requestId = currentContext()?.requestId;
  const problem = toProblem(fromFastify(thrown), { docsUrl, ...(requestId === undefined ? {} : { requestId }) });
  answered.inc({ outcome: problem.body.code });
  if (problem.status >= 500)
    logger.warn(
      { err: problem.error, code: problem.error.code, cause: problem.error.more.cause },
      'git relay failed to read a repository',
    );
  // git asks for a password at 401 and shows the body of none of them; 403 ends it.
  return reply
    .code(problem.status === 401 ? 403 : problem.status)
    .headers(problem.headers)
    .type('text/plain; charset=utf-8')
    .send(`${problem.body.detail ?? problem.body.title}\n`);
}

/** Breaks off above the bound, so that a part never passes for the whole. */
function bounded({ body }: Response, maxBytes: number): Readable {
  if (body === null) return Readable.from([]);
  let bytes = 0;
  const count = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > maxBytes) done(new Error('the pack is larger than may be read'));
      else done(null, chunk);
    },
  });
  const source = Readable.fromWeb(body as ReadableStream);
  source.once('error', (error) => count.destroy(error));
  count.once('close', () => source.destroy());
  return source.pipe(count);
}

function fromFastify(thrown: unknown): unknown {
  if (thrown instanceof SlipwayError) return thrown;
  const { statusCode } = thrown as { statusCode?: unknown };
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500)
    return new SlipwayError('request.invalid', 'The request could not be read.', { cause: thrown });
  return thrown;
}
