import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a vendor keeps of a thread. */
export interface VendorMessage {
  readonly id: string;
  readonly createdAt: number;
  /** Everything that a reader, or another bot, can see of it. */
  shown: string;
  readonly mark: string;
}

/** `lost`: takes effect, and its answer never comes. */
export type VendorFate = 'well' | 'lost' | readonly [status: number, body: unknown, headers?: Record<string, string>];

interface Asked {
  readonly method: string;
  readonly url: URL;
  readonly body: Record<string, unknown>;
}

/** A vendor's API over real HTTP, as its documentation has it, with what it keeps. It stands for nobody's real answers: none can be had here. */
export class ScriptedVendor {
  readonly messages: VendorMessage[] = [];
  readonly reactions: string[] = [];
  readonly authorizations = new Set<string>();
  fates: VendorFate[] = [];
  now = Date.parse('2026-11-24T03:00:00Z');
  private count = 0;
  private readonly server: Server;

  constructor(private readonly answer: (vendor: ScriptedVendor, asked: Asked) => readonly [number, unknown]) {
    this.server = createServer((request, response) => {
      void (async () => {
        const asked = await read(request);
        this.authorizations.add(request.headers.authorization ?? '');
        const fate = this.fates.shift() ?? 'well';
        if (typeof fate !== 'string') return response.writeHead(fate[0], fate[2]).end(JSON.stringify(fate[1]));
        const [status, body] = this.answer(this, asked);
        if (fate === 'lost') return request.socket.destroy();
        return response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      })();
    });
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  keep(shown: string, mark: string, id?: string): VendorMessage {
    this.count += 1;
    const made = { id: id ?? `${1_760_000_000 + this.count}.0001`, createdAt: this.now, shown, mark };
    this.messages.push(made);
    return made;
  }
}

async function read(request: IncomingMessage): Promise<Asked> {
  let text = '';
  for await (const part of request) text += String(part);
  return {
    method: request.method ?? '',
    url: new URL(request.url ?? '/', 'http://vendor'),
    body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
  };
}

/** Slack's Web API: 200 for everything, and `ok`. */
export const slackVendor = (): ScriptedVendor =>
  new ScriptedVendor((vendor, { url, body }) => {
    switch (url.pathname) {
      case '/api/reactions.add': {
        const key = `${body['channel']} ${body['timestamp']} ${body['name']}`;
        if (vendor.reactions.includes(key)) return [200, { ok: false, error: 'already_reacted' }];
        vendor.reactions.push(key);
        return [200, { ok: true }];
      }
      case '/api/chat.postMessage': {
        const mark = (body['metadata'] as { event_payload: { marker: string } }).event_payload.marker;
        return [200, { ok: true, ts: vendor.keep(String(body['text']), mark).id }];
      }
      case '/api/chat.update': {
        const known = vendor.messages.find(({ id }) => id === body['ts']);
        if (known === undefined) return [200, { ok: false, error: 'message_not_found' }];
        known.shown = String(body['text']);
        return [200, { ok: true, ts: known.id }];
      }
      case '/api/conversations.replies': {
        const oldest = Number(url.searchParams.get('oldest')) * 1_000;
        const recent = vendor.messages.filter(({ createdAt }) => createdAt >= oldest);
        return [
          200,
          { ok: true, messages: recent.map(({ id, mark }) => ({ ts: id, metadata: { event_type: 'slipway_answer', event_payload: { marker: mark } } })) },
        ];
      }
      default:
        return [200, { ok: false, error: 'unknown_method' }];
    }
  });

/** Comments of Jira, Cloud and Data Center alike but for the form of their body. */
export const jiraVendor = (): ScriptedVendor =>
  new ScriptedVendor((vendor, { method, url, body }) => {
    const one = /\/comment\/([^/]+)$/.exec(url.pathname);
    if (method === 'PUT') {
      const known = vendor.messages.find(({ id }) => id === one?.[1]);
      if (known === undefined) return [404, { errorMessages: ['Can not find a comment'] }];
      known.shown = JSON.stringify(body['body']);
      return [200, { id: known.id }];
    }
    if (method === 'POST') {
      const [property] = body['properties'] as Array<{ value: { marker: string } }>;
      return [201, { id: vendor.keep(JSON.stringify(body['body']), property?.value.marker ?? '').id }];
    }
    const newest = vendor.messages.toReversed();
    return [
      200,
      {
        comments: newest.map(({ id, createdAt, mark }) => ({
          id,
          created: new Date(createdAt).toISOString(),
          properties: [{ key: 'slipway.answer', value: { marker: mark } }],
        })),
      },
    ];
  });

/** Linear's GraphQL, for the documents that we send. */
export const linearVendor = (): ScriptedVendor =>
  new ScriptedVendor((vendor, { body }) => {
    const query = String(body['query']);
    const variables = body['variables'] as { id?: string; input?: { id: string; body?: string; content?: { type: string; body: string }; emoji?: string } };
    const { input } = variables;
    const taken = (): readonly [number, unknown] => [200, { errors: [{ message: 'Entity already exists', extensions: { code: 'INVALID_INPUT' } }] }];
    if (query.includes('reactionCreate')) {
      if (vendor.reactions.includes(input?.id ?? '')) return taken();
      vendor.reactions.push(input?.id ?? '');
      return [200, { data: { reactionCreate: { success: true } } }];
    }
    if (query.includes('commentCreate') || query.includes('agentActivityCreate')) {
      if (vendor.messages.some(({ id }) => id === input?.id)) return taken();
      vendor.keep(input?.content === undefined ? (input?.body ?? '') : `${input.content.type}: ${input.content.body}`, '', input?.id);
      return [200, { data: {} }];
    }
    const known = vendor.messages.find(({ id }) => id === variables.id);
    if (known === undefined) return [200, { errors: [{ message: 'Entity not found: Comment' }] }];
    if (query.includes('commentUpdate')) known.shown = input?.body ?? '';
    return [200, { data: { comment: { id: known.id, url: 'https://linear.app/c' } } }];
  });
