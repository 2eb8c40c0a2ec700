import { createHmac } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { Delivery } from '../delivery.js';
import type { Reading } from '../intent.js';
import type { Provider, ReadingContext } from '../provider.js';
import { fields, id, text } from '../reading/fields.js';
import { idAt, ignored, intent, reads, refusedActor, triggerOf } from '../reading/reading.js';
import { signedTimeRefusal, verifySignature } from '../signatures/verify.js';
import { contextWith, summary } from '../testing/deliveries.js';
import { PROVIDERS } from './index.js';

/** All that a ninth provider is: this object, and its name in the list. */
const toySaid = reads(fields({ id, by: id, topic: id, text }), (body, context) => {
  const actor = { id: body.by, login: body.by, kind: 'user' as const };
  const trigger = triggerOf({ text: body.text, syntax: 'markdown', trigger: 'mention' }, context);
  if (typeof trigger !== 'string') return trigger;
  const thread = {
    kind: 'ticket' as const,
    key: body.topic,
    place: { topic: body.topic },
    url: null,
    title: '',
    confidential: false,
    state: 'open' as const,
  };
  const instruction = { id: body.id, author: actor, text: body.text, createdAt: null, url: null };
  const said = {
    trigger,
    semanticKey: `${body.topic}/${body.id}`,
    actor,
    thread,
    instruction,
    repository: null,
    pullRequest: null,
    review: null,
    subject: null,
  };
  return refusedActor(actor, context, { text: body.text }) ?? intent(said);
});
const toy: Provider = {
  id: 'toy',
  name: 'Toy',
  does: ['chat'],
  host: 'toy.example',
  connections: [{ kind: 'webhook', name: 'Webhook', signature: 'hex' }],
  signatures: {
    hex: {
      kind: 'hmac-sha256',
      header: 'toy-signature',
      encoding: 'hex',
      key: 'utf8',
      signed: ['body'],
      time: { from: { bodyField: 'at' }, unit: 's', toleranceS: 60 },
    },
  },
  maxBytes: 1_000,
  form: false,
  tenant: { account: ({ body }) => idAt(body, 'account') },
  deliveryId: ({ body }) => idAt(body, 'id'),
  eventName: () => 'said',
  read: ({ body }, context) => (idAt(body, 'topic') === null ? ignored('event-not-followed') : toySaid(body, context)),
};
const WITH_TOY = { ...PROVIDERS, toy } satisfies Record<string, Provider>;

/**
 * The way of a delivery, of whichever provider: what is done at the intake and by the worker, without what they store.
 */
function arrive(
  provider: Provider,
  secret: string,
  delivery: Delivery,
  context: ReadingContext,
  now: Date,
): Reading | string {
  const signature = provider.signatures[provider.connections[0]?.signature ?? ''];
  if (signature === undefined || delivery.raw.length > provider.maxBytes) return 'refused';
  const refusal = verifySignature(signature, [secret], delivery, now);
  if (refusal !== null) return refusal;
  const body: unknown = JSON.parse(delivery.raw.toString('utf8'));
  return signedTimeRefusal(signature, body, now) ?? provider.read({ headers: delivery.headers, body }, context);
}

describe('the list of providers', () => {
  it('names each by its own id, and each connection by a signature that it has', () => {
    for (const [name, provider] of Object.entries<Provider>(PROVIDERS)) {
      expect(provider.id).toBe(name);
      expect(provider.connections.length).toBeGreaterThan(0);
      for (const { signature } of provider.connections) expect(Object.keys(provider.signatures)).toContain(signature);
      expect(new Set(provider.connections.map(({ kind }) => kind)).size).toBe(provider.connections.length);
      // What a signature does not cover is asked for again.
      for (const [signature, { kind }] of Object.entries(provider.signatures))
        if (kind === 'jwt-hs256')
          expect([name, provider.rereading?.signatures ?? []]).toEqual([name, expect.arrayContaining([signature])]);
      expect(provider.maxBytes).toBeLessThanOrEqual(25 * 1024 * 1024);
    }
  });

  it('has every folder, and no folder knows of another', () => {
    const sources = path.resolve(import.meta.dirname, '../../src/providers');
    const folders = readdirSync(sources, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(folders.map(({ name }) => name).sort()).toEqual(Object.keys(PROVIDERS).sort());
    const files = readdirSync(path.resolve(sources, '..'), { recursive: true, withFileTypes: true })
      .filter(
        (entry) =>
          entry.isFile() &&
          entry.name.endsWith('.ts') &&
          !entry.name.endsWith('.test.ts') &&
          path.basename(entry.parentPath) !== 'testing',
      )
      .map((entry) => path.join(entry.parentPath, entry.name));
    const compares = new RegExp(`(?:===|!==|case)\\s*'(?:${Object.keys(PROVIDERS).join('|')})'`);
    expect(files.filter((file) => compares.test(readFileSync(file, 'utf8')))).toEqual([]);
    expect(files.length).toBeGreaterThan(20);
  });

  it('takes another with one object and one line: its deliveries are verified and read like any', () => {
    const now = new Date('2026-11-23T10:00:00Z');
    const raw = Buffer.from(
      JSON.stringify({
        id: 'm1',
        account: 'a1',
        by: 'ann',
        topic: 't1',
        text: '@slipway go',
        at: now.getTime() / 1000,
      }),
    );
    const headers = { 'toy-signature': createHmac('sha256', 'secret').update(raw).digest('hex') };
    const came = (delivery: Delivery, at = now): string => {
      const reading = arrive(WITH_TOY.toy, 'secret', delivery, contextWith(), at);
      return typeof reading === 'string' ? reading : summary(reading);
    };
    expect(came({ headers, raw })).toBe('intent: mention t1/m1');
    expect(came({ headers, raw: Buffer.concat([raw, Buffer.from(' ')]) })).toBe('wrong');
    expect(came({ headers, raw }, new Date(now.getTime() + 61_000))).toBe('too-old');
    expect(came({ headers, raw: Buffer.alloc(1_001) })).toBe('refused');
  });
});
