import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { SlipwayError } from '@slipway/errors';
import type { Dialect } from '../wire/dialect.js';
import { errorOf } from '../wire/errors.js';
import { callerToken } from './master-key.js';
import { keyIdOf } from './virtual-key-token.js';

/** A connection may show this many keys that are none before it is made to wait. */
const BAD_KEYS_AT_ONCE = 16;
/**
 * How long each further one waits for its answer, one after another: who floods over so many connections is answered
 * once a connection in this time. Milliseconds.
 */
const WAIT_MS = 1_000;
/** Answers that wait at once; further ones are not given: the connection ends. About 2 kB each. */
const MAX_WAITING = 10_000;
/** A body up to this is thrown away, so that the connection can go on; with a larger one it ends. Bytes. */
const SMALL_BODY = 16 * 1024;

/** It has the form of a key; not yet looked up. */
export interface ShownKey {
  readonly token: string;
  readonly id: string;
}

/** What a connection has shown. */
interface Shown {
  bad: number;
  /** Answers that wait, in their order. */
  readonly late: Array<() => void>;
}

interface Refusal {
  readonly status: number;
  readonly body: string;
  readonly length: number;
}

/**
 * Refuses what cannot be a key of ours, by its form and checksum, before anything else is done: no body is read, no
 * query is made, the answer is the same each time. A connection that goes on with it gets ever slower answers;
 * meanwhile nothing more is read from it, so that it costs nothing.
 */
export class InvalidKeyThrottle {
  private readonly shown = new WeakMap<Socket, Shown>();
  private readonly refusals = new Map<Dialect, Refusal>();
  private waiting = 0;

  /** @param refused called for each. */
  constructor(private readonly refused: () => void) {}

  /** The key with which a request comes; `null`: there is none, it was refused, and the response is taken care of. */
  keyOf(request: IncomingMessage, response: ServerResponse, dialect: Dialect): ShownKey | null {
    const token = callerToken(request.headers);
    const id = token === null ? null : keyIdOf(token);
    if (token !== null && id !== null) return { token, id };
    this.refused();
    const { socket } = request;
    const shown = this.shownBy(socket);
    shown.bad += 1;
    const refusal = this.refusalOf(dialect);
    if (shown.bad <= BAD_KEYS_AT_ONCE) this.answer(request, response, refusal);
    else if (this.waiting >= MAX_WAITING) socket.destroy();
    else {
      this.waiting += 1;
      if (shown.late.push(() => this.answer(request, response, refusal)) === 1) this.later(socket, shown.late);
    }
    return null;
  }

  /** Gives the first of the answers that wait, in a while, and then the next. */
  private later(socket: Socket, late: Array<() => void>): void {
    socket.pause();
    setTimeout(() => {
      if (socket.destroyed) {
        this.waiting -= late.length;
        return;
      }
      this.waiting -= 1;
      late.shift()?.();
      if (late.length > 0) this.later(socket, late);
      else socket.resume();
    }, WAIT_MS).unref();
  }

  private shownBy(socket: Socket): Shown {
    let shown = this.shown.get(socket);
    if (shown === undefined) {
      shown = { bad: 0, late: [] };
      this.shown.set(socket, shown);
    }
    return shown;
  }

  private answer(request: IncomingMessage, response: ServerResponse, { status, body, length }: Refusal): void {
    const announced = request.headers['content-length'];
    const small = request.complete || (announced !== undefined && Number(announced) <= SMALL_BODY);
    response.writeHead(status, {
      'content-type': 'application/json',
      'content-length': length,
      'x-request-id': `req_${randomUUID()}`,
      ...(small ? {} : { connection: 'close' }),
    });
    response.end(body);
    if (small) request.resume();
  }

  private refusalOf(dialect: Dialect): Refusal {
    let refusal = this.refusals.get(dialect);
    if (refusal === undefined) {
      const { status, body } = errorOf(
        dialect,
        new SlipwayError('auth.missing', 'Send a key of this gateway as "Authorization: Bearer slp_llm_…".'),
      );
      const text = JSON.stringify(body);
      refusal = { status, body: text, length: Buffer.byteLength(text) };
      this.refusals.set(dialect, refusal);
    }
    return refusal;
  }
}
