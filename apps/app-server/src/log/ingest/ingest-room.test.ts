import { describe, expect, it } from '@jest/globals';
import { MAX_INGEST_BYTES } from '@slipway/contracts/events';
import { IngestRoom } from './ingest-room.js';

const large = String(MAX_INGEST_BYTES);

describe('room for batches', () => {
  it('is two of the largest bodies for a hostile sandbox, whether or not it says how long they are', async () => {
    const room = new IngestRoom();
    await room.enter('org', 'a', large);
    await room.enter('org', 'a', undefined);
    await expect(room.enter('org', 'a', large)).rejects.toMatchObject({
      code: 'service.unavailable',
      more: { retryAfterSeconds: 1 },
    });
    await room.enter('org', 'a', '100');
  });

  it('is left to other organizations when one has filled its own with many sandboxes', async () => {
    const room = new IngestRoom();
    for (const sandbox of ['a', 'b', 'c']) await room.enter('hostile', sandbox, large);
    await expect(room.enter('hostile', 'd', large)).rejects.toMatchObject({ code: 'service.unavailable' });
    const leave = await room.enter('modest', 'e', large);
    leave();
    leave();
    await room.enter('modest', 'e', large);
  });
});
