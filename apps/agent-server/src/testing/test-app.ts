import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ConversationEvent, StreamingDelta } from '@slipway/contracts/events';

/**
 * What the app does with the next batch instead of its work; `lost-ack` stores it and never says so, `held` does it
 * after `letGo`.
 */
export type AppFault = 'none' | 'error-500' | 'cut' | 'lost-ack' | 'rate-limited' | 'hang-then-cut' | 'held';

interface Line {
  readonly event: ConversationEvent;
  readonly epoch: number;
  readonly seq: number;
}

/**
 * The app's side of the log, by the rules of `app.append_events`: fenced by epoch, no gaps, an id once. It stands in
 * for app-server, which may not be imported here.
 */
export class TestApp {
  readonly lines: Line[] = [];
  readonly deltas: StreamingDelta[] = [];
  readonly batches: Array<{ epoch: number; size: number; traceparent: string | undefined }> = [];
  epoch = 1;
  private acked = 0;
  private readonly faults: AppFault[] = [];
  private readonly ids = new Set<string>();
  private readonly gate = Promise.withResolvers<void>();
  private server: Server | undefined;
  url = '';
  /** Actions that users approved under four eyes. `null`: an app of before, which does not know the question. */
  approved: string[] | null = [];
  /** While true, nothing is answered. */
  silent = false;

  async start(): Promise<this> {
    const server = createServer((request, response) => void this.serve(request, response));
    this.server = server;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/ingest/v1/conversations/test`;
    return this;
  }

  /** Another sandbox gets the conversation: what the one before still sends is refused. */
  nextEpoch(): number {
    this.epoch += 1;
    this.acked = 0;
    return this.epoch;
  }

  fail(...faults: AppFault[]): void {
    this.faults.push(...faults);
  }

  letGo(): void {
    this.gate.resolve();
  }

  get events(): ConversationEvent[] {
    return this.lines.map((line) => line.event);
  }

  /** Puts an event of the platform itself into the log. */
  append(event: ConversationEvent, epoch = this.epoch): void {
    if (this.ids.has(event.id)) return;
    this.ids.add(event.id);
    this.lines.push({ event, epoch, seq: this.lines.length + 1 });
  }

  async close(): Promise<void> {
    this.server?.closeAllConnections();
    await new Promise((resolve) => this.server?.close(resolve));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    if (this.silent) return;
    const url = new URL(request.url ?? '/', 'http://app');
    if (url.pathname.endsWith('/approvals'))
      return this.approved === null
        ? answer(response, 404, { code: 'resource.not-found' })
        : answer(response, 200, { action_ids: this.approved });
    if (request.method === 'GET') return this.history(url, response);
    const body = JSON.parse(Buffer.concat(chunks).toString()) as {
      epoch: number;
      events: Array<{ producerSeq: number; event: ConversationEvent }>;
      deltas: StreamingDelta[];
      traceparent?: string;
    };
    if (url.pathname.endsWith('/deltas')) {
      this.deltas.push(...body.deltas);
      return void response.writeHead(204).end();
    }
    const fault = this.faults.shift() ?? 'none';
    if (fault === 'error-500') return answer(response, 503, { code: 'service.unavailable', detail: 'down' });
    if (fault === 'rate-limited') return answer(response, 429, { code: 'rate.limited', detail: 'slow down' });
    if (fault === 'cut') return void response.destroy();
    if (fault === 'hang-then-cut') return void setTimeout(() => response.destroy(), 30);
    if (fault === 'held') await this.gate.promise;
    const { status, answer: reply } = this.store(body);
    if (fault === 'lost-ack') return void response.destroy();
    answer(response, status, reply);
  }

  private store(body: {
    epoch: number;
    events: Array<{ producerSeq: number; event: ConversationEvent }>;
    traceparent?: string;
  }): {
    status: number;
    answer: object;
  } {
    const state = { ackedProducerSeq: this.acked, head: this.lines.length };
    if (body.epoch !== this.epoch)
      return { status: 409, answer: { code: 'ingest.stale-epoch', detail: 'stale', ...state } };
    this.batches.push({ epoch: body.epoch, size: body.events.length, traceparent: body.traceparent });
    const fresh = body.events.filter(({ producerSeq }) => producerSeq > this.acked);
    if (fresh[0] !== undefined && fresh[0].producerSeq !== this.acked + 1)
      return { status: 409, answer: { code: 'ingest.gap', detail: 'gap', ...state } };
    for (const { producerSeq, event } of fresh) {
      this.acked = producerSeq;
      this.append(event, body.epoch);
    }
    return { status: 200, answer: { ackedProducerSeq: this.acked, head: this.lines.length } };
  }

  private history(url: URL, response: ServerResponse): void {
    const after = Number(url.searchParams.get('after') ?? 0);
    const limit = Number(url.searchParams.get('limit') ?? 200);
    const data = this.lines
      .slice(after, after + limit)
      .map((line) => ({ ...line, conversationId: '00000000-0000-4000-8000-000000000000' }));
    const last = after + data.length;
    answer(response, 200, {
      data,
      page: { head: this.lines.length, nextAfter: last < this.lines.length ? last : null },
    });
  }
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
