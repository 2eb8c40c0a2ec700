import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AgentRoute } from '@slipway/contracts/agent';
import { notFound, parseOrThrow, SlipwayError } from '@slipway/errors';
import type { z } from 'zod';
import type { Caller } from '../activation/caller.js';

/** Largest JSON body. Bytes. */
export const MAX_BODY_BYTES = 2 * 1024 * 1024;

/** One request on its way through a handler. */
export interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** `unauthenticated` on an open route. */
  readonly caller: Caller;
  /** Aborted when the client goes away before the answer is complete. */
  readonly signal: AbortSignal;
}

export interface Reply {
  readonly status: number;
  readonly body: unknown;
}

/** `undefined`: the handler has written the response itself. */
export type Handler = (call: Call) => Reply | undefined | Promise<Reply | undefined>;

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Segments that begin with `:` are parameters; one that also ends in `*`, the last, takes all that is left. */
  readonly path: string;
  /** `open` needs nothing, `session` an activated sandbox and its session key. */
  readonly access: 'open' | 'session';
  readonly handle: Handler;
}

export function ok(body: unknown, status = 200): Reply {
  return { status, body };
}

export type BodyOf<Entry> = Entry extends { readonly body: infer Body extends z.ZodType } ? z.output<Body> : undefined;

/** A call of a route of `AGENT_ROUTES`. */
export interface EntryCall<Entry> extends Call {
  /**
   * The body as the entry's schema reads it. @throws SlipwayError `request.invalid`, `request.not-json`,
   * `request.too-large`.
   */
  body(): Promise<BodyOf<Entry>>;
}

/** The route that an entry of `AGENT_ROUTES` is. */
export function serve<const Entry extends AgentRoute>(
  entry: Entry,
  handle: (call: EntryCall<Entry>) => ReturnType<Handler>,
): Route {
  const { method, path, access, body: schema } = entry;
  const body = async ({ request }: Call): Promise<BodyOf<Entry>> =>
    (schema === undefined ? undefined : parseOrThrow(schema, await readJson(request))) as BodyOf<Entry>;
  return { method, path, access, handle: (call) => handle({ ...call, body: () => body(call) }) };
}

type Split = Route & { readonly segments: readonly string[] };

/**
 * Finds the route of a path, and its parameters. Built once; a lookup walks the segments of those with its method and
 * as many segments.
 */
export class Router {
  private readonly routes = new Map<string, Split[]>();
  private readonly openEnded: Split[] = [];

  constructor(routes: readonly Route[]) {
    for (const route of routes) {
      const segments = route.path.split('/');
      if (route.path.endsWith('*')) this.openEnded.push({ ...route, segments });
      const alike = this.routes.get(keyOf(route.method, segments)) ?? [];
      alike.push({ ...route, segments });
      this.routes.set(keyOf(route.method, segments), alike);
    }
  }

  /** @throws SlipwayError `resource.not-found`. */
  match(method: string, path: string): { route: Route; params: Record<string, string> } {
    const segments = path.length > 1 && path.endsWith('/') ? path.slice(0, -1).split('/') : path.split('/');
    for (const route of this.routes.get(keyOf(method, segments)) ?? []) {
      const params = paramsOf(route.segments, segments);
      if (params !== null) return { route, params };
    }
    for (const route of this.openEnded) {
      if (route.method !== method || segments.length < route.segments.length) continue;
      const last = route.segments.length - 1;
      const params = paramsOf(route.segments, [...segments.slice(0, last), segments.slice(last).join('/')]);
      if (params !== null) return { route, params };
    }
    throw notFound();
  }
}

function keyOf(method: string, segments: readonly string[]): string {
  return `${method} ${segments.length}`;
}

function paramsOf(pattern: readonly string[], segments: readonly string[]): Record<string, string> | null {
  const params: Record<string, string> = {};
  for (const [index, part] of pattern.entries()) {
    const given = segments[index] ?? '';
    if (part.startsWith(':')) {
      if (given === '') return null;
      try {
        params[part.slice(1).replace(/\*$/, '')] = decodeURIComponent(given);
      } catch {
        return null;
      }
    } else if (part !== given) return null;
  }
  return params;
}

function goneWithin(): Error {
  return new Error('the client went away within the body');
}

/**
 * The body's bytes. @throws SlipwayError `request.too-large`; an error when the client goes away, also when it did so
 * before.
 */
export async function readBody(request: IncomingMessage, limit = MAX_BODY_BYTES): Promise<Buffer> {
  const tooLarge = (): SlipwayError => new SlipwayError('request.too-large', `The body is larger than ${limit} bytes.`);
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge();
  if (request.readableEnded) return Buffer.alloc(0);
  // It has already reported its end: no event awaited below would come.
  if (request.destroyed) throw goneWithin();
  // Events, and not `for await`: a body that came with its head is here without a turn of the loop for each step of an
  // iterator.
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (): void => {
      request.off('data', take).off('end', done).off('error', fail).off('close', fail);
    };
    const take = (chunk: Buffer): void => {
      size += chunk.length;
      chunks.push(chunk);
      if (size <= limit) return;
      // The request outlives a body that is refused: its answer has yet to be sent.
      settle();
      request.pause();
      reject(tooLarge());
    };
    const done = (): void => {
      settle();
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    };
    const fail = (error?: Error): void => {
      settle();
      reject(error ?? goneWithin());
    };
    request.on('data', take).once('end', done).once('error', fail).once('close', fail);
  });
}

/** The body as JSON; an empty one is `undefined`. @throws SlipwayError `request.not-json`, `request.too-large`. */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  const body = await readBody(request);
  if (body.length === 0) return undefined;
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (error) {
    throw new SlipwayError('request.not-json', 'The body could not be read as JSON.', { cause: error });
  }
}
