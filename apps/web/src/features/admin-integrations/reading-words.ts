import { z } from 'zod';
import type { Translate } from '../../messages/translate.ts';
import { triggerWords } from './connection-words.ts';

/** The parts of an intent that a user reads. Its other fields are for the worker, and change with it. */
const Intent = z.object({
  trigger: z.string(),
  actor: z.object({ id: z.string(), login: z.string() }),
  thread: z.object({ key: z.string(), title: z.string(), url: z.string().nullable() }),
  repository: z.object({ fullName: z.string() }).nullable(),
  instruction: z.object({ text: z.string() }),
});

export interface ReadingLine {
  readonly name: string;
  readonly text: string;
  /** A page of the provider; never anything but http or https, since the text is from outside. */
  readonly href?: string;
}

/** What was read in a delivery, line by line; empty where it asks for nothing. */
export function linesOfReading(t: Translate, reading: Readonly<Record<string, unknown>>): readonly ReadingLine[] {
  const intent = Intent.safeParse(reading['intent']).data;
  if (reading['kind'] !== 'intent' || intent === undefined) return [];
  const { trigger, actor, thread, repository, instruction } = intent;
  const href = pageOf(thread.url);
  return [
    { name: t('adminIntegrations.trigger'), text: triggerWords(t, trigger) },
    {
      name: t('adminIntegrations.actor'),
      text: actor.login === actor.id ? actor.login : t('adminIntegrations.id', { login: actor.login, id: actor.id }),
    },
    { name: t('adminIntegrations.thread'), text: thread.title || thread.key, ...(href === null ? {} : { href }) },
    ...(repository === null ? [] : [{ name: t('common.repository'), text: repository.fullName }]),
    ...(instruction.text === '' ? [] : [{ name: t('adminIntegrations.text'), text: instruction.text }]),
  ];
}

function pageOf(url: string | null): string | null {
  const parsed = url === null ? null : URL.parse(url);
  return parsed !== null && /^https?:$/.test(parsed.protocol) ? parsed.href : null;
}

/** A body as it is read best: JSON with its lines, anything else as it is. */
export function readableBody(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
