import http from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type Conversation,
  type ConversationStatus,
  type ConversationSummary,
  type Review,
} from '@slipway/contracts/conversations';
import { type LoggedEvent, type StreamingDelta, Subscribe } from '@slipway/contracts/events';
import { operations } from '@slipway/contracts/operations';
import { ROLE_PERMISSIONS } from '@slipway/contracts/organizations';
import { Server, type Socket } from 'socket.io';

/** One conversation that the fake serves. `log` may grow: `append` sends what is new to who subscribed. */
export interface FakeConversation {
  readonly summary: ConversationSummary;
  readonly start: Conversation['start'];
  readonly log: LoggedEvent[];
  readonly files: ReadonlyArray<{
    path: string;
    status: 'ADDED' | 'DELETED' | 'UPDATED';
    additions: number;
    deletions: number;
    binary: boolean;
    hash?: string;
    patch: string;
  }>;
  queued: Conversation['queued'];
  /** Threads of its review, each on a line of another file. */
  readonly threads?: number;
}

export interface FakeApp {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  append(conversationId: string, events: readonly LoggedEvent[]): void;
  delta(conversationId: string, delta: StreamingDelta): void;
  /** Ends every socket, as a restart of the server does. */
  dropSockets(): void;
  stop(): Promise<void>;
}

const ORG = {
  id: 'org_stand_in',
  slug: 'demo',
  name: 'Demo Person',
  kind: 'personal' as const,
  role: 'owner' as const,
  permissions: [...ROLE_PERMISSIONS.owner],
  deletesAt: null,
};

/**
 * Stands in for app-server before the real built pages: same paths, same frames, data from memory, no sign-in.
 * For measuring and looking at the pages only; every test of behaviour runs against the real one.
 */
export async function startFakeApp(options: {
  webUrl: string;
  port?: number;
  conversations: readonly FakeConversation[];
}): Promise<FakeApp> {
  const byId = new Map(options.conversations.map((conversation) => [conversation.summary.id, conversation]));
  const server = http.createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://fake');
    if (!url.pathname.startsWith('/api/')) return proxy(options.webUrl, request, response);
    const answer = answerOf(request.method ?? 'GET', url, byId);
    response.writeHead(answer.status, { 'content-type': answer.type, 'cache-control': 'no-store' });
    response.end(answer.body);
  });
  const io = new Server(server, { path: '/socket.io', transports: ['websocket'] });
  io.on('connection', (socket: Socket) => {
    socket.on('subscribe', (request: unknown, acknowledge: (answer: unknown) => void) => {
      const { conversationId, afterSeq } = Subscribe.parse(request);
      const conversation = byId.get(conversationId);
      if (conversation === undefined)
        return acknowledge({ ok: false, code: 'resource.not-found', detail: 'There is no such conversation.' });
      void socket.join(conversationId);
      acknowledge({ ok: true, head: conversation.log.length });
      for (let from = afterSeq; from < conversation.log.length; from += 200)
        socket.emit('events', { conversationId, events: conversation.log.slice(from, from + 200) });
    });
  });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    append: (conversationId, events) => {
      byId.get(conversationId)?.log.push(...events);
      io.to(conversationId).emit('events', { conversationId, events });
    },
    delta: (conversationId, delta) => void io.to(conversationId).emit('delta', { conversationId, delta }),
    dropSockets: () => io.disconnectSockets(true),
    stop: async () => {
      await io.close();
      server.closeAllConnections();
    },
  };
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}
const json = (value: unknown, status = 200): Answer => ({
  status,
  type: 'application/json',
  body: JSON.stringify(value),
});
const problem = (status: number, code: string, title: string): Answer => ({
  status,
  type: 'application/problem+json',
  body: JSON.stringify({
    type: 'about:blank',
    title,
    status,
    detail: `${title}.`,
    code,
    retry: 'never',
    requestId: 'req_stand_in',
  }),
});

function answerOf(method: string, url: URL, byId: ReadonlyMap<string, FakeConversation>): Answer {
  if (url.pathname === operations.me.path)
    return json({
      id: 'usr_stand_in',
      name: 'Demo Person',
      email: 'demo@example.test',
      auth: { kind: 'session' },
      emailVerified: true,
      orgs: [ORG],
      gates: [],
      terms: null,
    });
  const [resource, id, part] = url.pathname.split('/').slice(5);
  if (resource === 'models') return json({ data: [{ id: 'slipway-demo', label: 'Demo', demo: true, default: true }] });
  if (resource === 'conversations' && id === undefined && method === 'GET') {
    const status = url.searchParams.get('status') as ConversationStatus | null;
    const all = [...byId.values()]
      .map((conversation) => conversation.summary)
      .filter((summary) => status === null || summary.status === status);
    return json({ data: all, page: { nextCursor: null } });
  }
  if (resource === 'drafts')
    return json({ text: '', version: method === 'GET' ? 0 : 1, updatedAt: null, replaced: null });
  const conversation = resource === 'conversations' ? byId.get(id ?? '') : undefined;
  if (conversation === undefined) return problem(404, 'resource.not-found', 'There is no such resource');
  const whole = {
    ...conversation.summary,
    start: conversation.start,
    queued: conversation.queued,
    head: conversation.log.length,
  };
  switch (part) {
    case undefined:
      return json(whole);
    case 'events':
      return eventsPage(conversation.log, url.searchParams);
    case 'changes':
      return conversation.files.length === 0 && conversation.summary.status === 'starting'
        ? problem(409, 'conversation.no-workspace', 'There is no workspace to read')
        : json({
            files: conversation.files.map(({ patch: _, ...file }) => file),
            folders: [],
            left: 0,
            base: '4f1c2ab9d0e1f2a3b4c5d6e7f8091a2b3c4d5e6f',
            live: conversation.summary.sandboxStatus === 'RUNNING',
          });
    case 'diff':
      return {
        status: 200,
        type: 'text/x-diff',
        body: conversation.files
          .filter((file) => !url.searchParams.has('path') || file.path === url.searchParams.get('path'))
          .map((file) => file.patch)
          .join(''),
      };
    case 'review':
      return json(reviewOf(conversation));
    case 'repositories':
      return json({ data: [], cut: false, live: true });
    case 'commits':
      return json({ data: [], page: { nextCursor: null } });
    case 'provenance':
      return json({ lines: [] });
    case 'pull-requests':
      return json({ data: [] });
    case 'messages':
      return json(
        {
          id: '00000000-0000-4000-8000-0000000000aa',
          position: 1,
          text: 'queued',
          state: 'queued',
          createdAt: new Date().toISOString(),
          createdBy: 'usr_stand_in',
        },
        202,
      );
    default:
      // A page that reads what it has not asked for breaks; what is missing here it can say.
      return method === 'GET' ? problem(404, 'resource.not-found', 'There is no such resource') : json(whole, 202);
  }
}

/** With an open thread on each of the last files, and every third file viewed. */
function reviewOf({ files, threads = 0 }: FakeConversation): Review {
  return {
    threads: files.slice(-threads).map((file, index) => ({
      id: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
      number: index + 1,
      anchor: {
        path: file.path,
        repository: null,
        base: null,
        side: 'new',
        line: 4,
        endLine: 4,
        hash: '0',
        before: null,
        after: null,
        copies: 1,
        copy: 1,
        excerpt: 'a line that is gone',
      },
      resolvedAt: null,
      resolvedBy: null,
      createdAt: new Date(0).toISOString(),
      comments: [],
      answers: [],
    })),
    viewed: files.flatMap(({ path, hash }, index) => (hash !== undefined && index % 3 === 0 ? [{ path, hash }] : [])),
  };
}

function eventsPage(log: readonly LoggedEvent[], query: URLSearchParams): Answer {
  const limit = Number(query.get('limit') ?? 200);
  const before = query.get('before');
  const end = before === null ? log.length : Number(before) - 1;
  const from = before === null ? Number(query.get('after') ?? 0) : Math.max(0, end - limit);
  return json({ data: log.slice(from, Math.min(end, from + limit)), page: { head: log.length, nextAfter: null } });
}

function proxy(webUrl: string, request: http.IncomingMessage, response: http.ServerResponse): void {
  const onward = http.request(
    new URL(request.url ?? '/', webUrl),
    { method: request.method, headers: { ...request.headers, host: new URL(webUrl).host } },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    },
  );
  onward.on('error', () => response.writeHead(502).end());
  request.pipe(onward);
}
