import type { Authenticated, SignedIn } from '@slipway/auth';
import type { Principal } from '@slipway/contracts/organizations';
import type { FastifyRequest } from 'fastify';

/** What guard and interceptors have found out about a request. */
export interface SlipwayRequest extends FastifyRequest {
  authenticated?: Authenticated;
  /** Absent with an API key. */
  user?: SignedIn;
  principal?: Principal;
  /** Nothing in the body is written so that it could be text that no database can hold. */
  plainText?: boolean;
  /** Body and query as the operation's schemas read them. */
  valid?: { readonly body: unknown; readonly query: unknown };
  /**
   * UUID for what a `keyed` operation makes. The same when its process died and the request with its Idempotency-Key
   * runs again.
   */
  reservedId?: string;
}
