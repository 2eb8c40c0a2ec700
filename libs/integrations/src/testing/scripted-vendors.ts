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

/** `lost`: takes effect, and its answer never comes. `half`: takes effect, and half of its answer comes. */
export type VendorFate =
  | 'well'
  | 'lost'
  | 'half'
  | readonly [status: number, body: unknown, headers?: Record<string, string>];

interface Asked {
  readonly method: string;
  readonly url: URL;
  readonly body: Record<string, unknown>;
}

/**
 * A vendor's API over real HTTP, as its documentation has it, with what it keeps. Its answers are made from the
 * documentation: no real ones are available here.
 */
export class ScriptedVendor {
  readonly messages: VendorMessage[] = [];
  readonly reactions: string[] = [];
  readonly authorizations = new Set<string>();
  /** Every call that came, whatever became of it. */
  readonly calls: string[] = [];
  /** Pages that a thread points to, by what names them. */
  readonly links = new Map<string, string>();
  /** Where the ticket is, and how often it was moved. */
  readonly ticket = { state: 'new', moves: 0, delegate: null as string | null };
  /** Of a chat: whether the app may say what it does now, and what it says in each thread; empty where nothing. */
  readonly status = { allowed: false, shown: new Map<string, string>(), calls: 0 };
  fates: VendorFate[] = [];
  now = Date.parse('2026-11-24T03:00:00Z');
  private count = 0;
  private readonly server: Server;

  constructor(private readonly answer: (vendor: ScriptedVendor, asked: Asked) => readonly [number, unknown]) {
    this.server = createServer((request, response) => {
      void (async () => {
        const asked = await read(request);
        this.authorizations.add(request.headers.authorization ?? '');
        this.calls.push(`${asked.method} ${asked.url.pathname}`);
        const fate = this.fates.shift() ?? 'well';
        if (typeof fate !== 'string') return response.writeHead(fate[0], fate[2]).end(JSON.stringify(fate[1]));
        const [status, body] = this.answer(this, asked);
        if (fate === 'lost') return request.socket.destroy();
        if (fate === 'half') {
          const whole = JSON.stringify(body) ?? '';
          response.writeHead(status, { 'content-type': 'application/json', 'content-length': whole.length + 1 });
          return response.write(whole.slice(0, whole.length / 2), () => request.socket.destroy());
        }
        if (status === 204) return response.writeHead(204).end();
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
      case '/api/assistant.threads.setStatus': {
        vendor.status.calls += 1;
        if (!vendor.status.allowed) return [200, { ok: false, error: 'missing_scope' }];
        vendor.status.shown.set(`${body['channel_id']} ${body['thread_ts']}`, String(body['status']));
        return [200, { ok: true }];
      }
      case '/api/chat.postMessage': {
        const mark = (body['metadata'] as { event_payload: { marker: string } }).event_payload.marker;
        return [200, { ok: true, ts: vendor.keep(seenInSlack(body), mark).id }];
      }
      case '/api/chat.update': {
        const known = vendor.messages.find(({ id }) => id === body['ts']);
        if (known === undefined) return [200, { ok: false, error: 'message_not_found' }];
        known.shown = seenInSlack(body);
        return [200, { ok: true, ts: known.id }];
      }
      case '/api/conversations.replies': {
        const oldest = Number(url.searchParams.get('oldest')) * 1_000;
        const recent = vendor.messages.filter(({ createdAt }) => createdAt >= oldest);
        return [
          200,
          {
            ok: true,
            messages: recent.map(({ id, mark }) => ({
              ts: id,
              metadata: { event_type: 'slipway_answer', event_payload: { marker: mark } },
            })),
          },
        ];
      }
      default:
        return [200, { ok: false, error: 'unknown_method' }];
    }
  });

interface SlackElement {
  readonly text?: string | { readonly text: string };
  readonly type?: string;
  readonly elements?: readonly SlackElement[];
}

/** With what is to choose from and to press, and what stands preformatted. */
function seenInSlack({ text, blocks }: Record<string, unknown>): string {
  const elements = ((blocks ?? []) as SlackElement[]).flatMap(({ elements = [] }) => elements);
  const quoted = elements
    .filter(({ type }) => type === 'rich_text_preformatted')
    .flatMap(({ elements = [] }) => elements.map((each) => `\n| ${String(each.text)}`));
  const buttons = elements
    .filter(({ type }) => type === 'button')
    .map((each) => ` [${typeof each.text === 'object' ? each.text.text : ''}]`);
  const choice = elements.some(({ type }) => type === 'external_select') ? ' [choice]' : '';
  return `${String(text)}${choice}${quoted.join('')}${buttons.join('')}`;
}

/** Comments of Jira, Cloud and Data Center alike but for the form of their body. */
export const jiraVendor = (): ScriptedVendor =>
  new ScriptedVendor((vendor, { method, url, body }) => {
    const work = ticketOfJira(vendor, method, url, body);
    if (work !== null) return work;
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

/** A workflow in which a transition by screen, which asks for a field, comes first. */
function ticketOfJira(
  vendor: ScriptedVendor,
  method: string,
  url: URL,
  body: Record<string, unknown>,
): readonly [number, unknown] | null {
  if (url.pathname.endsWith('/remotelink')) {
    vendor.links.set(String(body['globalId']), (body['object'] as { url: string }).url);
    return [201, { id: 1 }];
  }
  if (url.pathname.endsWith('/transitions')) {
    if (method === 'POST') {
      const { id } = body['transition'] as { id: string };
      if (id === '11') return [400, { errors: { resolution: 'is required' } }];
      vendor.ticket.state = id === '21' ? 'indeterminate' : 'done';
      vendor.ticket.moves += 1;
      return [204, null];
    }
    const to = (key: string): object => ({ name: 'In Arbeit', statusCategory: { key } });
    return [
      200,
      {
        transitions: [
          { id: '11', to: to('done'), fields: { resolution: { required: true, hasDefaultValue: false } } },
          { id: '21', to: to('indeterminate'), fields: {} },
          { id: '31', to: to('done'), fields: { resolution: { required: true, hasDefaultValue: true } } },
        ],
      },
    ];
  }
  return method === 'GET' && url.searchParams.get('fields') === 'status'
    ? [200, { fields: { status: { statusCategory: { key: vendor.ticket.state } } } }]
    : null;
}

interface LinearInput {
  readonly id: string;
  readonly body?: string;
  readonly content?: { readonly type: string; readonly body?: string; readonly parameter?: string };
  readonly signal?: string;
  readonly ephemeral?: boolean;
  readonly url?: string;
  readonly addedExternalUrls?: readonly { readonly url: string }[];
  readonly stateId?: string;
  readonly delegateId?: string;
}

function ticketOfLinear(
  vendor: ScriptedVendor,
  query: string,
  { type, input }: { readonly type?: string; readonly input?: LinearInput },
): readonly [number, unknown] | null {
  const { ticket, links } = vendor;
  if (query.includes('attachmentCreate') || query.includes('agentSessionUpdate')) {
    for (const url of [input?.url, ...(input?.addedExternalUrls ?? []).map((each) => each.url)])
      if (url !== undefined) links.set(url, url);
    return [200, { data: {} }];
  }
  if (query.includes('issueUpdate')) {
    ticket.moves += input?.stateId === undefined ? 0 : 1;
    ticket.state = input?.stateId?.split('-')[0] ?? ticket.state;
    ticket.delegate = input?.delegateId ?? ticket.delegate;
    return [200, { data: {} }];
  }
  if (!query.includes('states(')) return null;
  const nodes = [3, 1, 2].map((position) => ({ id: `${type}-${position}`, position }));
  const delegate = ticket.delegate === null ? null : { id: ticket.delegate };
  const state = { type: ticket.state === 'new' ? 'unstarted' : ticket.state };
  return [
    200,
    { data: { viewer: { id: 'app-user', app: true }, issue: { delegate, state, team: { states: { nodes } } } } },
  ];
}

/** Linear's GraphQL, for the documents that we send. */
export const linearVendor = (): ScriptedVendor =>
  new ScriptedVendor((vendor, { body }) => {
    const query = String(body['query']);
    const variables = body['variables'] as { id?: string; type?: string; input?: LinearInput };
    const { input } = variables;
    const taken = (): readonly [number, unknown] => [
      200,
      { errors: [{ message: 'Entity already exists', extensions: { code: 'INVALID_INPUT' } }] },
    ];
    if (query.includes('reactionCreate')) {
      if (vendor.reactions.includes(input?.id ?? '')) return taken();
      vendor.reactions.push(input?.id ?? '');
      return [200, { data: { reactionCreate: { success: true } } }];
    }
    const work = ticketOfLinear(vendor, query, variables);
    if (work !== null) return work;
    if (query.includes('commentCreate') || query.includes('agentActivityCreate')) {
      if (vendor.messages.some(({ id }) => id === input?.id)) return taken();
      const { content, signal, ephemeral = false } = input ?? {};
      const said =
        content === undefined
          ? ''
          : `${content.type}${signal === undefined ? '' : ` (${signal})`}: ${content.parameter ?? content.body}`;
      // One that is ephemeral is gone with the next.
      if (content !== undefined)
        for (const [at, each] of vendor.messages.entries())
          if (each.mark === 'ephemeral') vendor.messages.splice(at, 1);
      vendor.keep(content === undefined ? (input?.body ?? '') : said, ephemeral ? 'ephemeral' : '', input?.id);
      return [200, { data: {} }];
    }
    const known = vendor.messages.find(({ id }) => id === variables.id);
    if (known === undefined) return [200, { errors: [{ message: 'Entity not found: Comment' }] }];
    if (query.includes('commentUpdate')) known.shown = input?.body ?? '';
    return [200, { data: { comment: { id: known.id, url: 'https://linear.app/c' } } }];
  });
