import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { signatureOf } from './bedrock/request-signature.js';
import { golden } from './test-golden.js';

export type VendorKind = 'azure' | 'gemini' | 'bedrock';

export interface VendorRequest {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Record<string, unknown>;
}

export interface VendorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface VendorServer {
  readonly url: string;
  readonly requests: readonly VendorRequest[];
  /** The next answer is this, whatever is asked. */
  next(answer: VendorAnswer): void;
  close(): Promise<void>;
}

export const VENDOR_MODELS = {
  azure: 'my-gpt',
  gemini: 'gemini-3.1-pro-preview',
  bedrock: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
} as const;
export const AWS_KEY = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  sessionToken: 'token:of/a+role',
} as const;
export const VENDOR_KEYS = {
  azure: 'key-of-azure',
  gemini: 'AIza-key-of-gemini',
  bedrock: Object.values(AWS_KEY).join(':'),
} as const;
const REGION = 'eu-central-1';

const PATHS: Readonly<Record<VendorKind, readonly [whole: string, streamed: string]>> = {
  azure: [
    '/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21',
    '/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21',
  ],
  gemini: [
    `/v1beta/models/${VENDOR_MODELS.gemini}:generateContent`,
    `/v1beta/models/${VENDOR_MODELS.gemini}:streamGenerateContent?alt=sse`,
  ],
  bedrock: [
    '/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse',
    '/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream',
  ],
};

/**
 * A vendor's API on loopback: it requires the vendor's own credential in the vendor's own header, and answers a
 * conversation with recorded answers: calls first, and text after their results. Streams leave in pieces that fit no
 * frame.
 */
export async function startVendorServer(kind: VendorKind): Promise<VendorServer> {
  const requests: VendorRequest[] = [];
  const answers: VendorAnswer[] = [];
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const raw = Buffer.concat(parts);
    const path = request.url ?? '';
    const refused = refusalOf(kind, request, path, raw);
    if (refused !== null) {
      response
        .writeHead(403, { 'content-type': 'application/json' })
        .end(JSON.stringify({ error: { message: refused } }));
      return;
    }
    const body = JSON.parse(raw.toString('utf8')) as Record<string, unknown>;
    requests.push({ path, headers: request.headers, body });
    const recorded = answers.shift();
    if (recorded !== undefined) {
      response.writeHead(recorded.status, recorded.headers).end(recorded.body);
      return;
    }
    const streamed = kind === 'azure' ? body['stream'] === true : path === PATHS[kind][1];
    const name = /functionResponse|toolResult|"role":"tool"/.test(raw.toString('utf8'))
      ? 'answers'
      : 'thinks-and-calls';
    if (!streamed) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(golden(`${kind}/${name}.json`));
      return;
    }
    response.writeHead(200, {
      'content-type': kind === 'bedrock' ? 'application/vnd.amazon.eventstream' : 'text/event-stream',
    });
    const bytes = golden(`${kind}/${name}.${kind === 'bedrock' ? 'events.json' : 'sse'}`);
    for (let start = 0; start < bytes.length; start += 61) {
      response.write(bytes.subarray(start, start + 61));
      await turn();
    }
    response.end();
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: kind === 'gemini' ? `${origin}/v1beta` : origin,
    requests,
    next: (recorded) => answers.push(recorded),
    close: () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
}

/** Why the vendor would not answer; `null` when it would. */
function refusalOf(kind: VendorKind, { method, headers }: IncomingMessage, path: string, body: Buffer): string | null {
  if (method !== 'POST' || !PATHS[kind].includes(path)) return `no route ${method} ${path}`;
  if (headers['content-type'] !== 'application/json') return 'no JSON';
  if (kind === 'azure')
    return headers['api-key'] === VENDOR_KEYS.azure && headers.authorization === undefined ? null : 'wrong api-key';
  if (kind === 'gemini')
    return headers['x-goog-api-key'] === VENDOR_KEYS.gemini && headers.authorization === undefined ? null : 'wrong key';
  const time = String(headers['x-amz-date']);
  const at = new Date(time.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  if (Math.abs(at.getTime() - Date.now()) > 300_000) return 'signed at another time';
  // What arrived is signed once more: it must be what was signed.
  const names = /SignedHeaders=([^,]*)/.exec(headers.authorization ?? '')?.[1]?.split(';') ?? [];
  const added = new Set(['x-amz-date', 'x-amz-security-token']);
  const signed = Object.fromEntries(
    names.filter((name) => !added.has(name)).map((name) => [name, String(headers[name])]),
  );
  const { authorization } = signatureOf(
    { method, path, headers: signed, body },
    AWS_KEY,
    { region: REGION, service: 'bedrock' },
    at,
  );
  return authorization === headers.authorization &&
    names.includes('host') &&
    headers['x-amz-security-token'] === AWS_KEY.sessionToken
    ? null
    : 'wrong signature';
}
