import type { z } from 'zod';
import type { ErrorCode } from '../errors/index.js';

/**
 * One route of agent-server that the platform calls: agent-server declares it from this, and `@slipway/agent-client`
 * calls it by this.
 */
export interface AgentRoute {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** Segments that begin with `:` are parameters. */
  readonly path: string;
  /** `open` needs no key. */
  readonly access: 'open' | 'session';
  /** Names of its query. */
  readonly query?: readonly string[];
  readonly body?: z.ZodType;
  /** Of an answer that is JSON; absent: the answer is text, bytes, or of no interest. */
  readonly answer?: z.ZodType;
  /** Sent with each call. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Headers that a caller may add. */
  readonly optionalHeaders?: readonly string[];
  /**
   * Refusals about the request, which a client passes on. Any other is a fault between platform and sandbox:
   * `sandbox.unreachable`.
   */
  readonly refusals: readonly ErrorCode[];
}
