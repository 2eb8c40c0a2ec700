import type { IncomingMessage, ServerResponse } from 'node:http';
import { InternalSignature, SIGNATURE_HEADER } from '@slipway/auth/internal-signature';
import type { z } from 'zod';
import type { EgressChanges } from './egress-changes.js';

/** Largest question of a route that names no other bound. Bytes. */
const MAX_BODY_BYTES = 8 * 1024;

/** How one question is answered; the answer is signed for it. */
export interface ControlRoute {
  /** @param signed the signature of the question. @returns `null` for a body that is no question of this route. */
  readonly answer: (body: string, signed: string) => Promise<string> | null;
  readonly type: 'application/json' | 'text/plain';
  /** Largest question. Bytes; absent: 8 KiB. */
  readonly maxBytes?: number;
}

export interface ControlPeerOptions {
  /** Of all its paths: `/internal/egress/v1/`. The stream of changes is `changes` below it. */
  readonly prefix: string;
  /** At least 32 characters, of this peer alone. */
  readonly secret: string;
  readonly purpose: string;
  readonly changes: EgressChanges;
  /** Questions by POST, by what stands after the prefix. */
  readonly routes: Readonly<Record<string, ControlRoute>>;
}

/** Reads a body by its schema. */
export function route<T>(
  schema: z.ZodType<T>,
  type: ControlRoute['type'],
  answer: (question: T, signed: string) => Promise<string>,
  more: Pick<ControlRoute, 'maxBytes'> = {},
): ControlRoute {
  return {
    ...more,
    type,
    answer: (body, signed) => {
      const question = questionOf(schema, body);
      return question === null ? null : answer(question, signed);
    },
  };
}

/** One process that asks app-server, by requests signed with a secret that opens nothing for another. */
export class ControlPeer {
  private readonly signature: InternalSignature;

  constructor(private readonly options: ControlPeerOptions) {
    this.signature = new InternalSignature(options.secret, options.purpose);
  }

  /** @returns false where the path is not one of this peer. */
  async serve(request: IncomingMessage, response: ServerResponse, now: Date): Promise<boolean> {
    const { method = '', url: path = '' } = request;
    const { prefix, changes, routes } = this.options;
    if (!path.startsWith(prefix)) return false;
    const name = path.slice(prefix.length);
    const asked = method === 'POST' && Object.hasOwn(routes, name) ? routes[name] : undefined;
    const body = await bodyOf(request, asked?.maxBytes ?? MAX_BODY_BYTES);
    if (body === null) {
      response.writeHead(413, { connection: 'close' }).end();
      return true;
    }
    const header = request.headers[SIGNATURE_HEADER];
    const signed = typeof header === 'string' ? header : '';
    if (!this.signature.accepts(signed, { method, path, body }, now)) {
      response.writeHead(403).end();
      return true;
    }
    if (method === 'GET' && name === 'changes') {
      const sign = (text: string): string => this.signature.signAnswer(signed, text);
      if (!changes.add(response, sign)) response.writeHead(503, { 'retry-after': '1' }).end();
      return true;
    }
    if (asked === undefined) response.writeHead(404).end();
    else await this.answer(asked, { body, signed }, response);
    return true;
  }

  private async answer(
    asked: ControlRoute,
    { body, signed }: { readonly body: string; readonly signed: string },
    response: ServerResponse,
  ): Promise<void> {
    const answering = asked.answer(body, signed);
    if (answering === null) return void response.writeHead(400).end();
    const answer = await answering;
    response
      .writeHead(200, {
        'content-type': asked.type,
        'cache-control': 'no-store',
        [SIGNATURE_HEADER]: this.signature.signAnswer(signed, answer),
      })
      .end(answer);
  }
}

async function bodyOf(request: IncomingMessage, maxBytes: number): Promise<string | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function questionOf<T>(schema: z.ZodType<T>, body: string): T | null {
  try {
    return schema.parse(JSON.parse(body));
  } catch {
    return null;
  }
}
