import { createHmac, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { headerOf, type ReadDelivery } from '../delivery.js';
import type { Intent, Reading } from '../intent.js';
import type { Provider, ReadingContext } from '../provider.js';

/** What the example provider says of one deed. */
const Body = z.object({
  account: z.string().optional(),
  challenge: z.string().optional(),
  ping: z.boolean().optional(),
  deed: z.string().optional(),
  trigger: z.enum(['mention', 'thread-reply', 'stop', 'mute', 'label']).optional(),
  actor: z.object({ id: z.string(), login: z.string(), foreign: z.literal(true).optional() }).optional(),
  thread: z.string().optional(),
  repository: z.string().optional(),
  text: z.string().optional(),
});
export type ExampleBody = z.infer<typeof Body>;

/** A made-up provider with every signature scheme and plain errors. For tests of what all providers share. */
export const exampleProvider: Provider = {
  id: 'example',
  name: 'Example',
  does: ['code', 'chat'],
  host: 'example.test',
  connections: [
    { kind: 'webhook', name: 'Webhook', signature: 'hmac' },
    { kind: 'token', name: 'Webhook with a token', signature: 'token' },
    { kind: 'standard', name: 'Standard Webhooks', signature: 'standard' },
    { kind: 'stamped', name: 'Webhook with its time', signature: 'stamped' },
  ],
  signatures: {
    hmac: {
      kind: 'hmac-sha256',
      header: 'x-example-signature',
      encoding: 'hex',
      prefix: 'sha256=',
      key: 'utf8',
      signed: ['body'],
    },
    standard: {
      kind: 'hmac-sha256',
      header: 'webhook-signature',
      encoding: 'base64',
      prefix: 'v1,',
      several: true,
      key: 'whsec-base64',
      signed: [{ header: 'webhook-id' }, { text: '.' }, { header: 'webhook-timestamp' }, { text: '.' }, 'body'],
      time: { from: { header: 'webhook-timestamp' }, unit: 's', toleranceS: 300 },
    },
    stamped: {
      kind: 'hmac-sha256',
      header: 'x-example-signature',
      encoding: 'hex',
      key: 'utf8',
      signed: ['body'],
      time: { from: { bodyField: 'stamp' }, unit: 'ms', toleranceS: 60 },
    },
    token: { kind: 'token', header: 'x-example-token' },
  },
  maxBytes: 25 * 1024 * 1024,
  form: true,
  tenant: { account: ({ body }) => read(body)?.account ?? null },
  deliveryId: (delivery) => headerOf(delivery, 'x-example-delivery') ?? null,
  eventName: (delivery) => headerOf(delivery, 'x-example-event') ?? 'unnamed',
  read: ({ body }, context) => readingOf(read(body), context),
};

/** A body that is signed as the provider does, with an id of its own. */
export function exampleDelivery(
  secret: string,
  body: ExampleBody,
  id: string = randomUUID(),
): { body: string; headers: Record<string, string> } {
  const text = JSON.stringify(body);
  return { body: text, headers: signedHeaders(secret, text, id) };
}

export function signedHeaders(secret: string, raw: string | Buffer, id: string = randomUUID()): Record<string, string> {
  return {
    'content-type': 'application/json',
    'x-example-delivery': id,
    'x-example-event': 'deed.done',
    'x-example-signature': `sha256=${createHmac('sha256', secret).update(raw).digest('hex')}`,
  };
}

function read(body: ReadDelivery['body']): ExampleBody | null {
  return Body.safeParse(body).data ?? null;
}

function readingOf(body: ExampleBody | null, context: ReadingContext): Reading {
  if (body === null) return { kind: 'ignored', reason: 'unreadable' };
  if (body.challenge !== undefined) return { kind: 'challenge', answer: body.challenge };
  if (body.ping === true) return { kind: 'lifecycle', lifecycle: { kind: 'verified' } };
  const { trigger, actor, thread, deed } = body;
  if (trigger === undefined || actor === undefined || thread === undefined || deed === undefined)
    return { kind: 'ignored', reason: 'no-trigger' };
  if (context.own.ids.includes(actor.id)) return { kind: 'ignored', reason: 'own-act' };
  if (trigger === 'thread-reply' && !context.ours(thread)) return { kind: 'ignored', reason: 'no-trigger' };
  const author = { kind: 'user' as const, ...actor };
  const intent: Intent = {
    trigger,
    semanticKey: deed,
    actor: author,
    thread: {
      kind: 'channel-thread',
      key: thread,
      place: { thread },
      url: `https://example.test/${thread}`,
      title: `Thread ${thread}`,
      confidential: false,
      state: 'open',
    },
    repository:
      body.repository === undefined
        ? null
        : { id: '1', fullName: body.repository, private: true, defaultBranch: 'main' },
    pullRequest: null,
    review: null,
    instruction: { id: deed, author, text: body.text ?? '', createdAt: null, url: null },
    subject: null,
  };
  return { kind: 'intent', intent };
}
