import type { GitClaims, GitTokens } from '@slipway/auth/git-token';
import { ReadSlots } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import { currentContext } from '@slipway/telemetry';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { BodyDeadlines } from '../../log/ingest/body-deadlines.js';
import { type GitRequest, readGitRequest } from './git-request.js';

/** What git has and wants, hashes of 41 bytes: 200,000 of them. Bytes. */
export const MAX_REQUEST_BYTES = 8 * 1024 * 1024;
/** Under way at once, with the bodies that they hold: 64 MiB of the 1 GiB that the chart gives this process. */
const SLOTS = {
  slots: 64,
  slotsPerOrg: 8,
  bytes: 8 * MAX_REQUEST_BYTES,
  bytesPerOrg: 2 * MAX_REQUEST_BYTES,
  waiting: 500,
  waitMs: 60_000,
};

/** What was authenticated and read of a request whose body may be read. */
export interface Admitted {
  readonly claims: GitClaims;
  readonly git: GitRequest;
  readonly gone: AbortSignal;
}

/** What a request needs before a byte of its body is read: a token for its conversation, and room. */
export class GitAdmission {
  private readonly slots = new ReadSlots(SLOTS);
  private readonly admitted = new WeakMap<FastifyRequest, Admitted>();
  private readonly deadlines = new BodyDeadlines(() => performance.now());

  constructor(private readonly tokens: GitTokens) {}

  /** @throws SlipwayError `auth.missing` for a request that was not admitted. */
  of(request: FastifyRequest): Admitted {
    const found = this.admitted.get(request);
    if (found === undefined) throw new SlipwayError('auth.missing', 'The token for git is not valid.');
    return found;
  }

  /** @throws SlipwayError `resource.not-found` for what is no request of git by this token, `rate.limited`. */
  async admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort(new Error('the sandbox hung up')));
    const params = request.params as { conversation: string; '*': string };
    const claims = await this.tokens.verify(request.headers.authorization);
    if (params.conversation.toLowerCase() !== claims.conversation.toLowerCase()) throw notFound();
    const context = currentContext();
    if (context !== undefined) {
      context.orgId = claims.org;
      context.conversationId = claims.conversation;
    }
    const git = readGitRequest(request.method, params['*'], (request.query as { service?: string }).service);
    if (git === null) throw notFound();
    this.admitted.set(request, { claims, git, gone: gone.signal });
    if (!reads(git)) return;
    if (reply.raw.closed) gone.abort(new Error('the sandbox hung up'));
    const slot = await this.slots.enter(claims.org, gone.signal);
    if (typeof slot === 'string') throw busy();
    // It may have gone while it waited.
    if (reply.raw.closed) slot.leave();
    else reply.raw.once('close', () => slot.leave());
    const bytes = request.method === 'POST' ? bytesOf(request.headers['content-length']) : 0;
    if (!slot.take(bytes)) throw busy();
    if (bytes === 0) return;
    const read = this.deadlines.watch(bytes, () => {
      void reply.header('connection', 'close');
      request.raw.emit(
        'error',
        new SlipwayError('request.too-slow', 'The request of git did not come in the time that it may take.'),
      );
    });
    request.raw.once('end', read);
    reply.raw.once('close', read);
  }
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

export function reads(git: GitRequest): git is GitRequest & { readonly asks: 'refs' | 'pack' } {
  return git.asks === 'refs' || git.asks === 'pack';
}
