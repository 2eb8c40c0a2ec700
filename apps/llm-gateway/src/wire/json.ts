import { SlipwayError } from '@slipway/errors';

/** An object of JSON with unchecked members. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** `null` for what is no object. */
export function objectOf(value: unknown): JsonObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

export function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

export function booleanOf(value: unknown): boolean | null {
  return typeof value === 'boolean' ? value : null;
}

/** The object that the text is in JSON; `null` for anything else. */
export function parseObject(text: string): JsonObject | null {
  try {
    return objectOf(JSON.parse(text));
  } catch {
    return null;
  }
}

/**
 * The value in JSON; `null` when it is nested deeper than the stack allows. Reading has no such limit, so a peer can
 * send what cannot be written.
 */
export function jsonText(value: unknown): string | null {
  try {
    return JSON.stringify(value) ?? null;
  } catch {
    return null;
  }
}

/** Without the members that are `undefined` or `null`: what was not said is not sent. */
export function said(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== null));
}

/** Without the named members. */
export function without(object: JsonObject, names: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name, value]) => !names.has(name) && value !== null));
}

/** A request that says something which cannot be said to this model. `field` is a path in the caller's body. */
export function invalid(field: string, sentence: string): SlipwayError {
  return new SlipwayError('request.invalid', `${field}: ${sentence}`, { fields: [{ path: field, message: sentence }] });
}

/** Short enough to be shown. */
export function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
