import { request as httpRequest, type IncomingMessage } from 'node:http';
import { SlipwayError } from '@slipway/errors';
import { z } from 'zod';
import { Upstream, type UpstreamOptions } from '../forward/upstream.js';
import { refused } from '../judge/refusal.js';

/** For an answer of an authorization server. Milliseconds. */
const ANSWER_MS = 10_000;
/** Most of that answer. Bytes. */
const MAX_ANSWER_BYTES = 64 * 1024;

/** Text that can stand in a header as a bearer token. */
export const BearerText = z
  .string()
  .min(1)
  .max(16 * 1024)
  .regex(/^[\x21-\x7e]+$/);

/** RFC 6749, 5.1; RFC 8693, 2.2.1. */
const TokenAnswer = z.object({
  access_token: BearerText,
  token_type: z.string().regex(/^bearer$/i),
  expires_in: z.coerce.number().min(0).optional().catch(undefined),
  refresh_token: BearerText.optional(),
  issued_token_type: z.string().optional(),
});
type TokenAnswer = z.infer<typeof TokenAnswer>;

/** How a client says who it is (RFC 6749, 2.3.1). */
interface TokenClient {
  readonly clientId: string;
  readonly clientAuth: 'none' | 'basic' | 'body';
  readonly secret: string;
}

/** What is asked of a token endpoint, for which credential. */
export interface TokenQuestion {
  readonly name: string;
  readonly tokenUrl: string;
  /** Empty ones are not sent. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly client: TokenClient;
}

/** A server's refusal by its code (RFC 6749, 5.2), which says more than its status. */
export class TokenRefused extends Error {
  constructor(
    readonly code: string | null,
    readonly status: number,
  ) {
    super(code ?? `status ${status}`);
  }
}

/** What a server answered, as far as it is read. */
interface ServerAnswer {
  readonly status: number;
  readonly json: unknown;
}

/** A call of a server that issues tokens. */
interface ServerCall {
  readonly method: 'POST' | 'DELETE';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Called when anything was written: from then on the server may have done it. */
  readonly sent?: () => void;
}

/**
 * Asks a token endpoint, on a connection of its own.
 * @throws TokenRefused where the server refuses; SlipwayError `credential.unreachable` for all else.
 */
export async function askForToken(
  { tokenUrl, parameters, client }: TokenQuestion,
  rules: UpstreamOptions,
  sent?: () => void,
): Promise<TokenAnswer> {
  const url = new URL(tokenUrl);
  const { headers, body } = tokenRequest(parameters, client);
  const call = { method: 'POST', url, headers, body, ...(sent === undefined ? {} : { sent }) } as const;
  const { status, json } = await callServer(call, rules);
  if (status === 200) {
    const token = TokenAnswer.safeParse(json);
    if (token.success) return token.data;
    throw unreachable(url.hostname, 'its answer has no bearer token');
  }
  if (status >= 500 || status === 429 || status < 400) throw unreachable(url.hostname, `it answers ${status}`);
  const { error } = z.object({ error: z.string().regex(/^[a-z_]{1,60}$/) }).safeParse(json).data ?? {};
  throw new TokenRefused(error ?? null, status);
}

/** The same in the words that a sandbox gets. */
export function rejection({ name, tokenUrl }: TokenQuestion, error: unknown): unknown {
  if (!(error instanceof TokenRefused)) return error;
  return rejected(new URL(tokenUrl).hostname, name, error.code ?? String(error.status), error);
}

export const rejected = (host: string, name: string, why: string, cause?: unknown) =>
  refused('credential.rejected', 'rejected', `${host} issues no access token for ${name}: ${why}.`, cause);

export const unreachable = (host: string, why: string, cause?: unknown) =>
  refused('credential.unreachable', 'unreachable', `${host} issues no access token now: ${why}.`, cause);

/** @throws SlipwayError `credential.unreachable` where no answer could be had. */
export async function callServer(call: ServerCall, rules: UpstreamOptions): Promise<ServerAnswer> {
  const { url } = call;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = url.port === '' ? 443 : Number(url.port);
  const upstream = new Upstream({ host, port }, rules, () => {});
  try {
    const { status, text } = await exchange(upstream, { ...call, host, port });
    return { status, json: readJson(text) };
  } catch (cause) {
    if (cause instanceof SlipwayError) throw cause;
    throw unreachable(host, (cause as NodeJS.ErrnoException).code ?? (cause as Error).message, cause);
  } finally {
    upstream.destroy();
  }
}

function tokenRequest(
  parameters: Readonly<Record<string, string>>,
  { clientId, clientAuth, secret }: TokenClient,
): { readonly headers: Readonly<Record<string, string>>; readonly body: string } {
  const form = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== ''));
  const headers: Record<string, string> = {
    'content-type': 'application/x-www-form-urlencoded',
    accept: 'application/json',
    'accept-encoding': 'identity',
  };
  if (clientAuth === 'basic') {
    // RFC 6749, 2.3.1: each is encoded as in a form before.
    const [id, key] = [clientId, secret].map((text) => new URLSearchParams([['', text]]).toString().slice(1));
    headers['authorization'] = `Basic ${Buffer.from(`${id}:${key}`).toString('base64')}`;
  } else if (clientId !== '') {
    form.set('client_id', clientId);
    if (clientAuth === 'body') form.set('client_secret', secret);
  }
  return { headers, body: form.toString() };
}

async function exchange(
  agent: Upstream,
  { host, port, url, method, headers, body, sent }: ServerCall & { readonly host: string; readonly port: number },
): Promise<{ readonly status: number; readonly text: string }> {
  const signal = AbortSignal.timeout(ANSWER_MS);
  const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = httpRequest({
      agent,
      signal,
      host,
      port,
      setHost: false,
      method,
      path: `${url.pathname}${url.search}`,
      headers: { ...headers, host: url.host, 'content-length': Buffer.byteLength(body) },
    });
    // The connection is made, and is safe: what follows may arrive.
    request.once('socket', () => sent?.());
    request.once('response', resolve).once('error', reject).end(body);
  });
  let text = '';
  for await (const chunk of incoming.setEncoding('utf8')) {
    text += chunk as string;
    if (text.length > MAX_ANSWER_BYTES) throw new Error('its answer is too long');
  }
  return { status: incoming.statusCode ?? 0, text };
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
