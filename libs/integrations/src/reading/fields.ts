import { z } from 'zod';

/** Longest text of a user that is stored. Characters; what is beyond is cut. */
const MAX_TEXT = 262_144;
const MAX_NAME = 1_000;
const MAX_ID = 200;
const MAX_URL = 4_096;
/** Of labels, assignees, changes: those beyond are ignored. */
const MAX_ITEMS = 500;

/**
 * Own properties alone: a body's `__proto__`, `constructor` or `toString` is data or nothing. Fields that are not named
 * are not read.
 */
export function fields<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const names = Object.keys(shape);
  return z.preprocess((value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const own = Object.create(null) as Record<string, unknown>;
    for (const name of names) if (Object.hasOwn(value, name)) own[name] = (value as Record<string, unknown>)[name];
    return own;
  }, z.object(shape));
}

/** An id as a provider writes it, number or text, as text. Nothing that separates the parts of a key. */
export const id = z
  .union([z.number().int().nonnegative(), z.string().max(MAX_ID)])
  .transform(String)
  .refine((value) => /^[^\s/#!\p{C}]+$/u.test(value));
/** A login, branch, path: refused when longer. */
export const name = z.string().min(1).max(MAX_NAME);
export const title = z.string().transform((value) => value.slice(0, MAX_NAME));
/** A user's text; `null` and missing are empty. */
export const text = z
  .string()
  .nullish()
  .transform((value) => value?.slice(0, MAX_TEXT) ?? '');
/** Moment as the provider writes it. */
export const moment = z
  .union([z.string().max(64), z.number().transform(String)])
  .nullish()
  .catch(null)
  .transform((value) => value ?? null);
/** `null` for what is no moment. */
export function dateOf(written: string | null): Date | null {
  const time = written === null ? Number.NaN : Date.parse(written);
  // Go's zero, as Gitea writes what has not happened.
  return Number.isNaN(time) || time <= 0 ? null : new Date(time);
}
/** Of a page for people: anything but http is dropped, since it becomes a link on our pages. */
export const url = z
  .string()
  .max(MAX_URL)
  .regex(/^https?:\/\/[^\s]+$/i)
  .nullish()
  .catch(null)
  .transform((value) => value ?? null);
export const flag = z
  .boolean()
  .nullish()
  .transform((value) => value ?? false);

export const maybe = <T extends z.ZodType>(schema: T) => schema.nullish().transform((value) => value ?? null);

export const list = <T extends z.ZodType>(schema: T) =>
  z
    .array(z.unknown())
    .nullish()
    .transform((items) => (items ?? []).slice(0, MAX_ITEMS))
    .pipe(z.array(schema));
