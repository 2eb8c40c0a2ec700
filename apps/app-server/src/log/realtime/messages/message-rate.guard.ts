import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { SlipwayError } from '@slipway/errors';
import type { Socket } from 'socket.io';

/**
 * Messages that one socket may send within `WINDOW_MS`: each costs queries. A client on a bad line sends a few a
 * second.
 */
const MAX_MESSAGES = 200;
/** Milliseconds. */
const WINDOW_MS = 10_000;

interface Window {
  readonly since: number;
  messages: number;
}

/** Bounds the rate of each socket. @throws SlipwayError `rate.limited` */
@Injectable()
export class MessageRateGuard implements CanActivate {
  private readonly windows = new WeakMap<Socket, Window>();

  canActivate(context: ExecutionContext): boolean {
    const socket = context.switchToWs().getClient<Socket>();
    const now = performance.now();
    let window = this.windows.get(socket);
    if (window === undefined || now - window.since > WINDOW_MS) {
      window = { since: now, messages: 0 };
      this.windows.set(socket, window);
    }
    window.messages += 1;
    if (window.messages > MAX_MESSAGES)
      throw new SlipwayError(
        'rate.limited',
        `One connection asks at most ${MAX_MESSAGES} times in ${WINDOW_MS / 1_000} seconds.`,
      );
    return true;
  }
}
