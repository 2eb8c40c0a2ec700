import type { ErrorCode } from '@slipway/contracts/errors';
import { SlipwayError } from '@slipway/errors';

/** What the API server says when it does not do what it was asked: its `Status` object. */
export interface ClusterStatus {
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
}

/** The API server refused, or did not answer (`status` 0). */
export class ClusterError extends SlipwayError {
  constructor(
    code: ErrorCode,
    detail: string,
    readonly status: number,
    cause?: unknown,
  ) {
    super(code, detail, cause === undefined ? {} : { cause });
  }

  /** The position of a list or a watch is too old to go on from. */
  get isGone(): boolean {
    return this.status === 410;
  }
}

/**
 * RBAC's own sentence: `pods is forbidden: User "u" cannot create resource "pods" in API group …`. Admission says 403
 * too, in other words.
 */
const RBAC = /\bcannot (get|list|watch|create|update|patch|delete|deletecollection) resource\b/;

/** An answer that is no success, with the cluster's own words. @param doing as in `make the sandbox`. */
export function refusal(status: number, said: ClusterStatus, doing: string): ClusterError {
  const words = said.message ?? said.reason ?? `status ${status}`;
  if (status === 401)
    return new ClusterError(
      'sandbox.forbidden',
      `The cluster does not accept Slipway's credentials, so it cannot ${doing}: ${words}`,
      status,
    );
  if (status === 403 && RBAC.test(words))
    return new ClusterError('sandbox.forbidden', `The cluster does not let Slipway ${doing}: ${words}`, status);
  if (status === 403 && words.includes('exceeded quota'))
    return new ClusterError('sandbox.no-capacity', `The quota of the sandbox namespace is used up: ${words}`, status);
  if (status === 429)
    return new ClusterError(
      'sandbox.cluster-unavailable',
      `The API server has too much to do to ${doing}: ${words}`,
      status,
    );
  if (status >= 500)
    return new ClusterError('sandbox.cluster-unavailable', `The API server failed to ${doing}: ${words}`, status);
  return new ClusterError('sandbox.refused', `The cluster refuses to ${doing}: ${words}`, status);
}

/** No answer at all. It may have been done all the same. */
export function noAnswer(doing: string, cause: unknown): ClusterError {
  const words = cause instanceof Error ? cause.message : String(cause);
  return new ClusterError(
    'sandbox.cluster-unavailable',
    `The API server did not answer when asked to ${doing}: ${words}`,
    0,
    cause,
  );
}

/** A body that is not a Status, such as a proxy's page, is quoted by its first words. */
export function readStatus(body: string): ClusterStatus {
  try {
    const parsed: unknown = JSON.parse(body);
    if (typeof parsed === 'object' && parsed !== null) return parsed as ClusterStatus;
  } catch {
    // Not JSON.
  }
  return body.trim() === '' ? {} : { message: body.trim().slice(0, 200) };
}
