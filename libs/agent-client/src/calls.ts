import type { AGENT_ROUTES, AgentRouteName } from '@slipway/contracts/agent';
import type { z } from 'zod';
import type { AnswerBound } from './answers.js';

type Entry<Name extends AgentRouteName> = (typeof AGENT_ROUTES)[Name];
type NoArguments = Record<never, never>;
type PathParameters<Path extends string> = Path extends `${string}/:${infer Name}/${infer Rest}`
  ? Readonly<Record<Name, string>> & PathParameters<`/${Rest}`>
  : Path extends `${string}/:${infer Name}`
    ? Readonly<Record<Name, string>>
    : NoArguments;
type OfBody<Route> = Route extends { readonly body: infer Body extends z.ZodType }
  ? { readonly body: z.input<Body> }
  : NoArguments;
/** `null` and `undefined`: not sent. */
type OfQuery<Route> = Route extends { readonly query: readonly (infer Name extends string)[] }
  ? { readonly query: { readonly [Key in Name]?: string | number | null | undefined } }
  : NoArguments;
type OfHeaders<Route> = Route extends { readonly optionalHeaders: readonly (infer Name extends string)[] }
  ? { readonly headers?: { readonly [Key in Name]?: string } }
  : NoArguments;

/** What a call of a route is given: parameters of its path, `query`, `body`, `headers`. */
export type CallArguments<Name extends AgentRouteName> = PathParameters<Entry<Name>['path']> &
  OfQuery<Entry<Name>> &
  OfBody<Entry<Name>> &
  OfHeaders<Entry<Name>>;

/** What a route answers with; `undefined` where its entry has no schema. */
export type CallAnswer<Name extends AgentRouteName> =
  Entry<Name> extends { readonly answer: infer Answer extends z.ZodType } ? z.output<Answer> : undefined;

/** What a caller chooses. */
export interface CallOptions extends Partial<AnswerBound> {
  /** From the first byte out to the last byte in. Milliseconds. */
  readonly timeoutMs?: number;
  /** Ends the call; its reason is then what the call rejects with. */
  readonly signal?: AbortSignal;
}

/** A call as it goes out. */
export interface Outgoing {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** Puts the arguments where the entry of the route has them. */
export function outgoingOf(path: string, { query, body, headers, ...parameters }: Record<string, unknown>): Outgoing {
  const named = Object.entries(query ?? {}).flatMap(([name, value]) =>
    value === null || value === undefined ? [] : [`${name}=${encodeURIComponent(String(value))}`],
  );
  const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(parameters[name])));
  return {
    path: named.length === 0 ? filled : `${filled}?${named.join('&')}`,
    headers: (headers ?? {}) as Record<string, string>,
    body,
  };
}
