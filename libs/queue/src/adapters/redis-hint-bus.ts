import type { Hint } from '@slipway/contracts/events';
import type { Logger } from '@slipway/telemetry';
import type { Redis } from 'ioredis';
import type { HintBus } from '../hint-bus.js';
import { packHints, unpackHints } from '../hint-frames.js';
import { HintListeners } from '../hint-listeners.js';
import { connectRedis } from './redis-backend.js';

const CHANNEL = 'slipway:hints';
/** No limit of Redis; small frames keep other commands from waiting. */
const MAX_FRAME_BYTES = 64 * 1024;

/**
 * Redis pub/sub: one connection to publish, one to listen, because Redis gives a listening connection no other
 * commands.
 */
export class RedisHintBus implements HintBus {
  private readonly listeners: HintListeners;
  private readonly publisher: Redis;
  private readonly subscriber: Redis;

  constructor(options: { redisUrl: string; logger: Logger }) {
    this.listeners = new HintListeners(options.logger);
    this.publisher = connectRedis(options.redisUrl, options.logger);
    this.subscriber = connectRedis(options.redisUrl, options.logger);
    // ioredis subscribes again by itself after each new connection; once more says when it has.
    this.subscriber.on(
      'ready',
      () =>
        void this.subscriber.subscribe(CHANNEL).then(
          () => this.listeners.opened(),
          () => {},
        ),
    );
    this.subscriber.on('message', (_channel: string, frame: string) => {
      for (const hint of unpackHints(frame)) this.listeners.tell(hint);
    });
  }

  publish(hint: Hint): void {
    // A hint for later is worth nothing: without a connection it is dropped, not queued.
    if (this.publisher.status !== 'ready') return;
    for (const frame of packHints([hint], MAX_FRAME_BYTES)) this.publisher.publish(CHANNEL, frame).catch(() => {});
  }

  subscribe(listener: (hint: Hint) => void, missed?: () => void): () => void {
    return this.listeners.add(listener, missed);
  }

  async close(): Promise<void> {
    this.publisher.disconnect();
    this.subscriber.disconnect();
  }
}
