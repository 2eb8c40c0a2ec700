import type { ServerResponse } from 'node:http';
import { until } from '@slipway/testing';

export const MB = 1024 * 1024;

/** An answer of a sandbox that is sent as fast as it is taken, a megabyte at a time. */
export class Flood {
  /** Megabytes that were written so far. */
  sent = 0;

  constructor(private readonly megabytes: number) {}

  readonly into = (response: ServerResponse): void => {
    const piece = Buffer.alloc(MB);
    const more = (): void => {
      while (this.sent < this.megabytes) {
        this.sent += 1;
        if (!response.write(piece)) return void response.once('drain', more);
      }
      response.end();
    };
    more();
  };

  /** Until nothing more was sent for a while: it is not read. */
  async standsStill(): Promise<void> {
    let last = -1;
    await until('the sandbox waits', async () => {
      const still = this.sent === last;
      last = this.sent;
      await new Promise((resolve) => setTimeout(resolve, 100));
      return still && this.sent > 0;
    });
  }
}
