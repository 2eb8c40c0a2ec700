import type { z } from 'zod';
import { headerOf, type ReadDelivery } from '../delivery.js';
import type { Actor, Ignored, Intent, Lifecycle, Outcome, Reading, TriggerKind } from '../intent.js';
import { addressOf, commandOf, type Syntax } from '../mention/mention.js';
import type { ReadingContext } from '../provider.js';

export const ignored = (reason: Ignored, detail?: string): Reading =>
  detail === undefined ? { kind: 'ignored', reason } : { kind: 'ignored', reason, detail };
export const intent = (read: Intent): Reading => ({ kind: 'intent', intent: read });
export const outcome = (read: Outcome): Reading => ({ kind: 'outcome', outcome: read });
export const lifecycle = (read: Lifecycle): Reading => ({ kind: 'lifecycle', lifecycle: read });

/**
 * One kind of event: the fields it needs, and what they mean. A body without them is `unreadable`, with the path of the
 * first that is missing.
 */
export type EventReader = (body: unknown, context: ReadingContext) => Reading;

export function reads<Schema extends z.ZodType>(
  schema: Schema,
  meaning: (body: z.output<Schema>, context: ReadingContext) => Reading,
): EventReader {
  return (body, context) => {
    const result = schema.safeParse(body);
    if (!result.success) return ignored('unreadable', result.error.issues[0]?.path.join('.') ?? '');
    return meaning(result.data, context);
  };
}

/** The reader of an event's name, never one that `Object` brings along. */
export function readerOf(readers: Readonly<Record<string, EventReader>>, event: string): EventReader | null {
  return Object.hasOwn(readers, event) ? (readers[event] as EventReader) : null;
}

/** A name out of a header or body, for the log: short, and of plain letters. */
export const plainName = (value: unknown): string | null =>
  typeof value === 'string' && /^[\w:. -]{1,80}$/.test(value) ? value : null;

export const headerName = (delivery: ReadDelivery, header: string): string | null =>
  plainName(headerOf(delivery, header));

/** One field of an object out of JSON; `undefined` for what it does not own. */
export function own(value: unknown, field: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, field)
    ? (value as Record<string, unknown>)[field]
    : undefined;
}

/** An id out of a header or of the body's own fields, following `path`. Bounded. */
export function idAt(body: unknown, ...path: readonly string[]): string | null {
  const value = path.reduce(own, body);
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  return typeof value === 'string' && value.length > 0 && value.length <= 200 ? value : null;
}

/** Stands in every text that we write, so that no reading of it starts anything. */
const MARKER = /<!--\s*slipway:/i;

export const isOurText = (text: string): boolean => MARKER.test(text);

/** Why an actor is not heard: ourselves, and bots that the organization does not list. `null` when it is. */
export function refusedActor(
  actor: Actor,
  context: ReadingContext,
  said: { readonly text?: string; readonly app?: string | null } = {},
): Reading | null {
  if (context.own.ids.includes(actor.id) || (said.app != null && context.own.ids.includes(said.app)))
    return ignored('own-act');
  if (said.text !== undefined && isOurText(said.text)) return ignored('own-act');
  return actor.kind !== 'user' && !context.bots.includes(actor.id) ? ignored('bot') : null;
}

export interface Spoken {
  readonly text: string;
  readonly syntax: Syntax;
  /** What it is when it names us, or needs not. */
  readonly trigger: TriggerKind;
  /** Heard without a mention, such as a reply in a thread of ours. */
  readonly unasked?: boolean;
}

/** What a text starts; a reading when it starts nothing. */
export function triggerOf(
  { text, syntax, trigger, unasked = false }: Spoken,
  context: ReadingContext,
): TriggerKind | Reading {
  const address = addressOf(text, syntax, { name: context.own.mention, ids: context.own.ids });
  if (address === 'stop' || address === 'mute') return address;
  if (address === 'mention') return trigger;
  if (unasked) return commandOf(text) ?? trigger;
  return ignored(address === 'quoted' ? 'quoted-only' : 'no-trigger');
}

export function namesLabel(context: ReadingContext, label: string): boolean {
  const wanted = label.trim().toLowerCase();
  return context.labels.some((each) => each.trim().toLowerCase() === wanted);
}
