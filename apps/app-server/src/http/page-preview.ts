import { deflateRawSync } from 'node:zlib';
import { AgentAction } from '@slipway/contracts/actions';
import { Conversation, Desk } from '@slipway/contracts/conversations';
import { blobRefOf, type ConversationEvent, EventPage, textOfContent } from '@slipway/contracts/events';
import {
  type ConversationPreview,
  MAX_PREVIEW_BYTES,
  MAX_PREVIEW_LENGTH,
  type PagePreview,
  type PreviewRow,
} from '@slipway/contracts/operate';
import { Me, RESERVED_SLUGS } from '@slipway/contracts/organizations';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/** The page of a conversation, or of its review: organization, id and which. */
const CONVERSATION_PAGE = /^\/([\w-]+)\/conversations\/([\da-f-]{36})(\/review)?(?:$|[?])/;
/** The Desk: an organization. */
const DESK_PAGE = /^\/([\w-]+)\/?(?:$|[?])/;
/** First parts of the paths of pages that show nothing of who is signed in. */
const OF_NOBODY: ReadonlySet<string> = new Set(['login', 'invite', 'device']);
/** How much of the log's end is read. Events. */
const EVENTS = 30;
/** Most text of one row, and of all. UTF-16 code units. */
const ROW_LENGTH = 1_500;
const STEP_LENGTH = 160;
const TEXT_LENGTH = 8_000;
/** Longest that a page waits for its preview: without one it is a page with a skeleton. Milliseconds. */
const LONGEST_MS = 1_000;
/** Longest headers of the browser beside which a preview still fits. Characters. */
const MAX_OTHER_HEADERS = 6_000;

/**
 * What a page shows before its scripts are there, as a value of `PREVIEW_HEADER`: its reader, and the Desk or the end
 * of the conversation that it is of. `null` for a request that opens no page, and for who is not signed in. It is read
 * from our own API with the reader's own cookie, so that everything that is asked of a reader there is asked here.
 */
export async function pagePreview(fastify: FastifyInstance, request: FastifyRequest): Promise<string | null> {
  if (!wantsDocument(request) || OF_NOBODY.has(request.url.split(/[/?]/, 2)[1] ?? '')) return null;
  if (request.raw.rawHeaders.reduce((sum, text) => sum + text.length, 0) > MAX_OTHER_HEADERS) return null;
  const [, org, id, review] = CONVERSATION_PAGE.exec(request.url) ?? [];
  const [, deskOf = 'login'] = DESK_PAGE.exec(request.url) ?? [];
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), LONGEST_MS);
  });
  const inTime = <T>(reading: Promise<T | null>): Promise<T | null> => Promise.race([reading.catch(() => null), late]);
  const get: Get = async (url) => {
    const answer = await fastify.inject({
      method: 'GET',
      url,
      headers: { cookie: request.headers.cookie ?? '' },
      remoteAddress: request.ip,
    });
    return answer.statusCode === 200 ? answer.json() : null;
  };
  const [me, desk, conversation] = await Promise.all([
    inTime(get('/api/v1/me').then((answer) => Me.safeParse(answer).data ?? null)),
    RESERVED_SLUGS.has(deskOf)
      ? null
      : inTime(get(`/api/v1/orgs/${deskOf}/desk`).then((answer) => Desk.safeParse(answer).data ?? null)),
    org === undefined || id === undefined
      ? null
      : inTime(readConversation(get, `/api/v1/orgs/${org}/conversations/${id}`, review === undefined)),
  ]);
  clearTimeout(timer);
  return me === null ? null : encode({ me, desk, conversation });
}

/** Reads our own API as the reader; `null` for an answer other than 200. */
type Get = (url: string) => Promise<unknown>;

/** A browser that opens the page: not the pages' own scripts, which ask for parts of it and have the API. */
function wantsDocument({ method, headers }: FastifyRequest): boolean {
  return (
    method === 'GET' &&
    headers.cookie !== undefined &&
    headers['rsc'] === undefined &&
    (headers.accept ?? '').includes('text/html')
  );
}

async function readConversation(get: Get, path: string, withText: boolean): Promise<ConversationPreview | null> {
  const snapshot = Conversation.safeParse(await get(path)).data;
  if (snapshot === undefined) return null;
  if (!withText) return { snapshot, rows: [] };
  const page = EventPage.safeParse(await get(`${path}/events?before=${snapshot.head + 1}&limit=${EVENTS}`)).data;
  return page === undefined ? null : { snapshot, rows: lastRows(page.data.flatMap(({ event }) => rowsOf(event))) };
}

/** What a reader of the timeline would read of one event. */
function rowsOf(event: ConversationEvent): PreviewRow[] {
  if (event.kind === 'MessageEvent') {
    const author = event.source === 'environment' ? 'slipway' : event.llm_message.role === 'user' ? 'user' : 'agent';
    return [message(author, textOfContent(event.llm_message.content), event.sender ?? null)];
  }
  if (event.kind !== 'ActionEvent') return [];
  const thought = textOfContent(event.thought).trim();
  const action = AgentAction.safeParse(event.action).data;
  const own =
    action?.kind === 'FinishAction'
      ? message('finish', action.message)
      : step(event.summary ?? commandOf(event.action) ?? event.tool_name);
  return thought === '' ? [own] : [message('agent', thought), own];
}

function message(
  author: Extract<PreviewRow, { kind: 'message' }>['author'],
  text: string,
  sender: string | null = null,
): PreviewRow {
  const known = blobRefOf(text)?.preview ?? text;
  const shown = known.slice(0, ROW_LENGTH);
  return { kind: 'message', author, sender, text: shown, cut: shown.length < text.length };
}

function step(text: string): PreviewRow {
  const [line = ''] = text.trim().split('\n', 1);
  return { kind: 'step', text: line.slice(0, STEP_LENGTH) };
}

/** Of the shell the command, of an editor what it does to which file. */
function commandOf(action: object): string | null {
  const { kind, command, path } = action as {
    readonly kind?: unknown;
    readonly command?: unknown;
    readonly path?: unknown;
  };
  if (typeof command !== 'string' || command.trim() === '') return null;
  if (typeof path === 'string') return `${command.replace('_', ' ')} ${path}`;
  return kind === 'TerminalAction' ? command : null;
}

/** The newest rows that fit, oldest first. */
function lastRows(rows: readonly PreviewRow[]): PreviewRow[] {
  let left = TEXT_LENGTH;
  const first = rows.findLastIndex((row) => {
    left -= row.text.length;
    return left < 0;
  });
  return rows.slice(first + 1);
}

/** As long as it may be. `null`: nothing of it is so short. */
function encode(preview: PagePreview): string | null {
  const text = JSON.stringify(preview);
  if (Buffer.byteLength(text) <= MAX_PREVIEW_BYTES) {
    const value = deflateRawSync(text).toString('base64url');
    if (value.length <= MAX_PREVIEW_LENGTH) return value;
  }
  const { desk, conversation } = preview;
  // Whoever belongs to very many organizations has a page that begins with a skeleton.
  if (desk === null && conversation === null) return null;
  return encode({ ...preview, desk: null, conversation: conversation === null ? null : shorter(conversation) });
}

/** Without its oldest rows, and at the end not at all. */
function shorter({ rows, ...rest }: ConversationPreview): ConversationPreview | null {
  return rows.length === 0 ? null : { ...rest, rows: rows.slice(Math.ceil(rows.length / 4)) };
}
