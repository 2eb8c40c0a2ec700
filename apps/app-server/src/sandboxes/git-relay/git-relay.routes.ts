import { Readable, Transform } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { GitClaims, GitTokens } from '@slipway/auth/git-token';
import { ReadSlots } from '@slipway/domain';
import { notFound, SlipwayError, toProblem } from '@slipway/errors';
import { currentContext, type Logger } from '@slipway/telemetry';
import { Counter, type Registry } from '@slipway/telemetry/http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { BodyDeadlines } from '../../log/ingest/body-deadlines.js';
import type { GitRelay } from './git-relay.js';
import { type GitRequest, pktLine, readGitRequest } from './git-request.js';

export interface GitRelayRoutesOptions {
  readonly relay: GitRelay;
  readonly tokens: GitTokens;
  readonly metrics: Registry;
  readonly logger: Logger;
  readonly docsUrl: string;
  readonly maxAnswerBytes?: number;
}

/** What git has and wants, hashes of 41 bytes: 200,000 of them. Bytes. */
const MAX_REQUEST_BYTES = 8 * 1024 * 1024;
/** A pack of a repository with its history. Bytes. */
const MAX_ANSWER_BYTES = 16 * 1024 ** 3;
/** Under way at once, with the bodies that they hold: 64 MiB of the 1 GiB that the chart gives this process. */
const SLOTS = {
  slots: 64,
  slotsPerOrg: 8,
  bytes: 8 * MAX_REQUEST_BYTES,
  bytesPerOrg: 2 * MAX_REQUEST_BYTES,
  waiting: 500,
  waitMs: 60_000,
};
const PUSH_REFUSED = 'Slipway pushes for this conversation: ask for a pull request. Nothing was pushed.';

/**
 * `/ingest/v1/conversations/{id}/git/{connection}/{owner}/{name}`: git's smart HTTP, reading alone, for the sandbox of
 * the conversation that the token names. Straight on the HTTP server: packs are streamed, and nothing of the framework
 * touches them.
 */
export function installGitRelayRoutes(fastify: FastifyInstance, options: GitRelayRoutesOptions): void {
  const { relay, tokens, logger, docsUrl, maxAnswerBytes = MAX_ANSWER_BYTES } = options;
  const slots = new ReadSlots(SLOTS);
  const answered = new Counter({
    name: 'git_relay_requests_total',
    help: 'Git requests of sandboxes, by outcome',
    labelNames: ['outcome'],
    registers: [options.metrics],
  });

  /** What was authenticated and read of requests whose body may be read. */
  const admitted = new WeakMap<FastifyRequest, Admitted>();
  const deadlines = new BodyDeadlines(() => performance.now());
  /** Before a byte of the body is read: whose it is, what it asks, and room for it. */
  const admit = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort(new Error('the sandbox hung up')));
    const params = request.params as { conversation: string; '*': string };
    const claims = await tokens.verify(request.headers.authorization);
    if (params.conversation.toLowerCase() !== claims.conversation.toLowerCase()) throw notFound();
    const context = currentContext();
    if (context !== undefined) {
      context.orgId = claims.org;
      context.conversationId = claims.conversation;
    }
    const git = readGitRequest(request.method, params['*'], (request.query as { service?: string }).service);
    if (git === null) throw notFound();
    admitted.set(request, { claims, git, gone: gone.signal });
    if (!reads(git)) return;
    if (reply.raw.closed) gone.abort(new Error('the sandbox hung up'));
    const slot = await slots.enter(claims.org, gone.signal);
    if (typeof slot === 'string') throw busy();
    // It may have gone while it waited.
    if (reply.raw.closed) slot.leave();
    else reply.raw.once('close', () => slot.leave());
    const bytes = request.method === 'POST' ? bytesOf(request.headers['content-length']) : 0;
    if (!slot.take(bytes)) throw busy();
    if (bytes === 0) return;
    const read = deadlines.watch(bytes, () => {
      void reply.header('connection', 'close');
      request.raw.emit(
        'error',
        new SlipwayError('request.too-slow', 'The request of git did not come in the time that it may take.'),
      );
    });
    request.raw.once('end', read);
    reply.raw.once('close', read);
  };

  const take = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const found = admitted.get(request);
    if (found === undefined) throw new SlipwayError('auth.missing', 'The token for git is not valid.');
    const { claims, git, gone } = found;
    if (!reads(git)) return refuse(reply, git);
    const { connection } = request.params as { connection: string };
    const body = Buffer.isBuffer(request.body) ? request.body : null;
    const answer = await relay.ask({ claims, connection, request: git, headers: request.headers, body, gone });
    answered.inc({ outcome: 'passed' });
    const type = `application/x-git-upload-pack-${git.asks === 'refs' ? 'advertisement' : 'result'}`;
    void reply.header('cache-control', 'no-store').type(type);
    return reply.send(bounded(answer, maxAnswerBytes));
  };

  void fastify.register(async (scope) => {
    scope.addHook('onRequest', admit);
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      'application/x-git-upload-pack-request',
      { parseAs: 'buffer', bodyLimit: MAX_REQUEST_BYTES },
      (_request, body, done) => done(null, body),
    );
    // Of what is refused no byte is read.
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    scope.setErrorHandler((thrown, _request, reply) => {
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
    });
    scope.route({
      method: ['GET', 'POST'],
      url: '/ingest/v1/conversations/:conversation/git/:connection/*',
      bodyLimit: MAX_REQUEST_BYTES,
      handler: take,
    });
  });

  function refuse(reply: FastifyReply, { asks }: GitRequest): FastifyReply {
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
}

interface Admitted {
  readonly claims: GitClaims;
  readonly git: GitRequest;
  readonly gone: AbortSignal;
}

function busy(): SlipwayError {
  return new SlipwayError('rate.limited', 'Too many clones of the organization are under way.', {
    retryAfterSeconds: 10,
  });
}

/** Without a length, as git sends what is long: the longest. */
function bytesOf(length: string | undefined): number {
  return length === undefined ? MAX_REQUEST_BYTES : Math.min(Number(length) || 0, MAX_REQUEST_BYTES);
}

function reads(git: GitRequest): git is GitRequest & { readonly asks: 'refs' | 'pack' } {
  return git.asks === 'refs' || git.asks === 'pack';
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
