import { Controller, Inject, Param, Req, Res } from '@nestjs/common';
import type { Authenticated } from '@slipway/auth';
import { type EventsQuery } from '@slipway/contracts/conversations';
import { operations } from '@slipway/contracts/operations';
import { type Principal } from '@slipway/contracts/organizations';
import type { SqlPool } from '@slipway/db/sql';
import { notFound, parseOrThrow, SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { Caller, Credential, Query } from '../../http/params.js';
import type { SlipwayRequest } from '../../http/request.js';
import { Serves } from '../../http/serves.js';
import { LOGGER, SQL_POOL } from '../../platform/tokens.js';
import { AccessWatch, watchedCredential } from './access-watch.js';
import { conversationId } from './conversation-id.js';
import { readBlob, readHead, readLines, readLinesOfKind } from './event-log.queries.js';
import { streamEvents } from './event-stream.js';
import { Hubs } from './hubs.js';
import { eventPage, kindPage } from './log-line.js';
import { sendPacked } from './packed-answer.js';
import { StreamSeats } from './stream-seats.js';

const LastEventId = z.coerce.number().int().min(0);

interface StreamRequest {
  readonly id: string;
  readonly after: number;
  readonly request: SlipwayRequest;
  readonly reply: FastifyReply;
}

@Controller()
export class EventsController {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    private readonly hubs: Hubs,
    private readonly access: AccessWatch,
    private readonly seats: StreamSeats,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  @Serves(operations.readEvents)
  async read(
    @Caller() caller: Principal,
    @Credential() authenticated: Authenticated,
    @Param('conversation') conversation: string,
    @Query() query: z.infer<typeof EventsQuery>,
    @Req() request: SlipwayRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const id = conversationId(conversation);
    const { kind } = query;
    if (wantsStream(request) && kind !== undefined) {
      const message = 'is for pages: a stream has every event';
      throw new SlipwayError('request.invalid', `kind: ${message}`, { fields: [{ path: 'kind', message }] });
    }
    if (wantsStream(request)) return this.stream(caller, authenticated, { id, after: query.after, request, reply });
    const head = await readHead(this.pool, caller.orgId, id);
    if (head === null) throw notFound();
    const lines =
      kind === undefined
        ? await readLines(this.pool, caller.orgId, id, query)
        : await readLinesOfKind(this.pool, caller.orgId, id, { ...query, kind });
    const answer = kind === undefined ? eventPage(lines, query.after, head) : kindPage(lines, head, query.limit);
    await sendPacked(request, reply, answer);
  }

  /** Fetched whole: a payload was one string of one event, so it is at most an ingest body. */
  @Serves(operations.readBlob)
  async blob(
    @Caller() caller: Principal,
    @Param('conversation') conversation: string,
    @Param('sha256') sha256: string,
  ): Promise<Buffer> {
    const content = await readBlob(this.pool, caller.orgId, conversationId(conversation), sha256);
    if (content === null) throw notFound();
    return content;
  }

  private async stream(
    caller: Principal,
    authenticated: Authenticated,
    { id, after, request, reply }: StreamRequest,
  ): Promise<void> {
    const last = request.headers['last-event-id'];
    const cursor = last === undefined ? after : parseOrThrow(LastEventId, last);
    const leaveSeat = this.seats.take({ user: caller.actor.id, org: caller.orgId });
    const hub = await this.hubs.acquire(caller.orgId, id).catch((error: unknown) => {
      leaveSeat();
      throw error;
    });
    const revoked = new AbortController();
    const stopWatch = this.access.watch(watchedCredential(authenticated), caller.orgId, () => revoked.abort());
    try {
      if (cursor > hub.head) await hub.behind(cursor);
      if (cursor > hub.head)
        throw new SlipwayError('request.invalid', `The log ends at ${hub.head}, before the position ${cursor}.`);
      reply.hijack();
      reply.raw.writeHead(200, {
        ...(reply.getHeaders() as Record<string, string>),
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      });
      await streamEvents(reply.raw, hub, cursor, AbortSignal.any([this.hubs.ending, revoked.signal]));
    } catch (error) {
      if (!reply.raw.headersSent) throw error;
      this.logger.warn({ err: error, conversation_id: id }, 'event stream ended early, its reader will reconnect');
    } finally {
      leaveSeat();
      stopWatch();
      this.hubs.release(hub);
    }
  }
}

function wantsStream(request: SlipwayRequest): boolean {
  return (request.headers.accept ?? '').split(',').some((type) => type.trim().split(';')[0] === 'text/event-stream');
}
