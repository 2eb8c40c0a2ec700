import type { z } from 'zod';
import { ProviderRefusal, refusalOf } from './provider-refusal.js';

export interface Outgoing {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly redirect: 'manual';
  readonly signal: AbortSignal;
}

/** Sends one request: `fetch`, or one that keeps to a guard against addresses of our own network. */
export type Dispatch = (url: string, request: Outgoing) => Promise<Response>;

export interface ProviderClientOptions {
  /** Of the API, without a slash at its end. */
  readonly baseUrl: string;
  /** `null`: none is sent. */
  readonly authorization: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly dispatch: Dispatch;
  readonly now: () => Date;
  /** Longest for a whole answer [20 s]. Milliseconds. */
  readonly timeoutMs?: number;
  /** Longest answer that is read [8 MiB]. Bytes. */
  readonly maxAnswerBytes?: number;
}

export interface Call<Schema extends z.ZodType> {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Below the API, its parts encoded. */
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as a form instead. */
  readonly form?: Readonly<Record<string, string>>;
  /** What of the answer is needed. */
  readonly answer: Schema;
}

export interface Answer<T> {
  readonly body: T;
  readonly headers: Headers;
}

const TIMEOUT_MS = 20_000;
/** Of an answer: a page of a hundred repositories of GitHub has 0.7 MB. Bytes. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
const SAID = 300;

/**
 * One provider's API with one credential. Never retries: the outbox does, since it knows what has been done. Follows no
 * redirect.
 */
export class ProviderClient {
  constructor(private readonly options: ProviderClientOptions) {}

  /** @throws ProviderRefusal for everything but an answer of 2xx that has what is needed. */
  async call<Schema extends z.ZodType>({
    method,
    path,
    body,
    form,
    answer,
  }: Call<Schema>): Promise<Answer<z.output<Schema>>> {
    const {
      baseUrl,
      authorization,
      headers,
      dispatch,
      now,
      timeoutMs = TIMEOUT_MS,
      maxAnswerBytes = MAX_ANSWER_BYTES,
    } = this.options;
    const writes = method !== 'GET';
    const what = `${method} ${path.split('?', 1)[0]}`;
    const sent = sentBody(body, form);
    const request = {
      method,
      headers: {
        accept: 'application/json',
        ...headers,
        ...(authorization === null ? {} : { authorization }),
        ...(sent === null ? {} : { 'content-type': sent.type }),
      },
      redirect: 'manual' as const,
      signal: AbortSignal.timeout(timeoutMs),
      ...(sent === null ? {} : { body: sent.text }),
    };
    let response: Response;
    let text: string | null;
    try {
      response = await dispatch(`${baseUrl}${path}`, request);
      text = await bounded(response, maxAnswerBytes);
    } catch (error) {
      throw new ProviderRefusal(
        `${what}: no answer`,
        { kind: 'unavailable', status: null, retryAt: null, outcomeUnknown: writes },
        { cause: error },
      );
    }
    const { status } = response;
    if (!response.ok) {
      const said = (text ?? '').slice(0, SAID);
      throw new ProviderRefusal(`${what}: ${status} ${said}`, refusalOf(response, said, writes, now()));
    }
    const read = text === null ? undefined : answer.safeParse(jsonOf(text));
    if (read?.success !== true) {
      const why = read === undefined ? 'is too long' : `misses ${read.error.issues[0]?.path.join('.') ?? 'everything'}`;
      throw new ProviderRefusal(`${what}: the answer ${why}`, {
        kind: 'unreadable',
        status,
        retryAt: null,
        outcomeUnknown: writes,
      });
    }
    return { body: read.data, headers: response.headers };
  }

  /**
   * A text, or the end of one that is longer. Follows one redirect, without the credential: hosts keep logs elsewhere.
   * @throws ProviderRefusal
   */
  async text(path: string, maxBytes: number): Promise<{ readonly text: string; readonly cut: boolean }> {
    const { baseUrl, authorization, headers, dispatch, now, timeoutMs = TIMEOUT_MS } = this.options;
    const what = `GET ${path.split('?', 1)[0]}`;
    const signal = AbortSignal.timeout(timeoutMs);
    const send = (url: string, own: Readonly<Record<string, string>>): Promise<Response> =>
      dispatch(url, { method: 'GET', headers: own, redirect: 'manual', signal });
    try {
      let response = await send(`${baseUrl}${path}`, {
        ...headers,
        ...(authorization === null ? {} : { authorization }),
      });
      const target =
        response.status >= 300 && response.status < 400
          ? URL.parse(response.headers.get('location') ?? '', `${baseUrl}${path}`)
          : null;
      if (target !== null) {
        await response.body?.cancel();
        if (target.protocol !== 'https:' && target.origin !== new URL(baseUrl).origin)
          throw new ProviderRefusal(`${what}: sends elsewhere without https`, {
            kind: 'unreadable',
            status: response.status,
            retryAt: null,
            outcomeUnknown: false,
          });
        response = await send(target.href, {});
      }
      if (!response.ok) {
        const said = ((await bounded(response, MAX_ANSWER_BYTES)) ?? '').slice(0, SAID);
        throw new ProviderRefusal(`${what}: ${response.status} ${said}`, refusalOf(response, said, false, now()));
      }
      return await endOf(response, maxBytes);
    } catch (error) {
      if (error instanceof ProviderRefusal) throw error;
      throw new ProviderRefusal(
        `${what}: no answer`,
        { kind: 'unavailable', status: null, retryAt: null, outcomeUnknown: false },
        { cause: error },
      );
    }
  }
}

function sentBody(
  body: unknown,
  form: Call<z.ZodType>['form'],
): { readonly type: string; readonly text: string } | null {
  if (form !== undefined)
    return { type: 'application/x-www-form-urlencoded', text: new URLSearchParams(form).toString() };
  return body === undefined ? null : { type: 'application/json', text: JSON.stringify(body) };
}

/** The whole text; `null` when it is longer than any that we ask for, and then no more of it is read. */
async function bounded(response: Response, maxBytes: number): Promise<string | null> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of response.body ?? []) {
    length += part.length;
    if (length > maxBytes) return null;
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

/** `undefined` for an empty answer and for one that is no JSON. */
function jsonOf(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Most of a log that is read to come to its end. Bytes. */
const MAX_READ_BYTES = 64 * 1024 * 1024;

/** Its last bytes; no more than twice as many are in memory. */
async function endOf(response: Response, maxBytes: number): Promise<{ text: string; cut: boolean }> {
  let end = Buffer.alloc(0);
  let read = 0;
  for await (const part of response.body ?? []) {
    read += part.length;
    end = Buffer.concat([end, part]);
    if (end.length > 2 * maxBytes) end = end.subarray(-maxBytes);
    if (read > MAX_READ_BYTES) break;
  }
  return { text: end.subarray(-maxBytes).toString('utf8'), cut: read > maxBytes };
}
