import type { z } from 'zod';
import type { ErrorCode } from '../errors/error-codes.js';
import type { Permission } from '../organizations/permissions.js';

/** One REST operation. Controllers, OpenAPI, the client and the reference page are made from this. */
export interface Operation {
  /** `noun.verb`, OpenAPI's operationId. */
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With `{name}` parameters. */
  readonly path: string;
  readonly summary: string;
  /** `null`: any signed-in person. */
  readonly permission: Permission | null;
  /** Also for nobody: the handler then has no `User`. */
  readonly anonymous?: true;
  /**
   * Also in an organization that waits for its deletion; every other operation that changes something is refused there
   * with `org.being-deleted`.
   */
  readonly whileDeleting?: true;
  /**
   * `session`: a signed-in user alone, no API key. Unless said, `any` where a permission is needed, and `session` where
   * none is: that is the user's own. See `proofOf`.
   */
  readonly proof?: 'any' | 'session';
  /** Counted by another rate limit than its method says. See `limitOf`. */
  readonly limit?: 'starts';
  /** Answers also who has not passed a gate (`Gate`) yet. */
  readonly beforeGates?: true;
  readonly status: 200 | 201 | 202 | 204;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  /** Media type of an upload: a body of bytes, which its handler reads, in place of JSON. */
  readonly consumes?: string;
  /** Absent: no JSON body (204, or a download). */
  readonly response?: z.ZodType;
  /** Media type of a download or a stream. Where it is any (two asterisks with a slash), the handler says which. */
  readonly produces?: string;
  /** Media type that is answered instead of JSON to who asks for it by `Accept`. */
  readonly alternative?: string;
  /** Whether a repeated request is safe by itself, by Idempotency-Key, or not at all: `none` does it again. */
  readonly idempotency: 'idempotent' | 'keyed' | 'none';
  /**
   * What it answers has a version: the `ETag`. A change takes it as `If-Match`; without one it applies to whatever is
   * there.
   */
  readonly versioned?: true;
  /** Beside the ones that every operation has (`COMMON_ERRORS`). */
  readonly errors: readonly ErrorCode[];
}

/** What an operation lets in: a session alone, or an API key as well. */
export function proofOf({ proof, permission }: Pick<Operation, 'proof' | 'permission'>): 'any' | 'session' {
  return proof ?? (permission === null ? 'session' : 'any');
}

/** Rate limits, counted apart. `starts`: what may want a sandbox. */
export type LimitClass = 'reads' | 'writes' | 'starts';
export function limitOf({ limit, method }: Pick<Operation, 'limit' | 'method'>): LimitClass {
  return limit ?? (method === 'GET' ? 'reads' : 'writes');
}

export const COMMON_ERRORS = [
  'request.invalid',
  'auth.missing',
  'permission.denied',
  'account.email-unverified',
  'account.terms-required',
  'org.sign-in-again',
  'org.second-factor-needed',
  'resource.not-found',
  'rate.limited',
  'internal.unexpected',
  'service.unavailable',
] as const satisfies readonly ErrorCode[];
