import { notFound } from '@slipway/errors';
import { z } from 'zod';

const Uuid = z.uuid();

/** A UUID of a path. @throws SlipwayError `resource.not-found` for what cannot be one: the answer of a missing one. */
export function conversationId(text: string): string {
  const id = Uuid.safeParse(text);
  if (!id.success) throw notFound();
  return id.data.toLowerCase();
}
