import { describe, expect, it } from '@jest/globals';
import { IntakeRoom } from './intake-room.js';

const MIB = 1024 * 1024;

describe('the room for deliveries', () => {
  async function* pieces(count: number, size: number, seen: { count: number }): AsyncGenerator<Uint8Array> {
    for (let index = 0; index < count; index += 1) {
      seen.count += 1;
      yield new Uint8Array(size);
    }
  }

  it('holds no more of a body than its cap, whoever sends on', async () => {
    const room = new IntakeRoom();
    const slot = await room.enter('connection');
    const seen = { count: 0 };
    await expect(room.read(pieces(1_000, MIB, seen), slot, 3 * MIB, undefined)).rejects.toMatchObject({
      code: 'request.too-large',
    });
    expect(seen.count).toBe(4);
    expect(room.bytes).toBe(3 * MIB);
    slot.leave();
    expect(room.bytes).toBe(0);
    await expect(room.read(pieces(1, 1, seen), await room.enter('connection'), MIB, 2 * MIB)).rejects.toMatchObject({
      code: 'request.too-large',
    });
    expect(seen.count).toBe(4);
  });

  it('of those who name no connection takes nothing from the connections that there are', async () => {
    const room = new IntakeRoom();
    const nobody = await room.enter(null);
    await room.read(pieces(1, 25 * MIB, { count: 0 }), nobody, 25 * MIB, 25 * MIB);
    await expect(
      room.read(pieces(1, MIB, { count: 0 }), await room.enter(null), 25 * MIB, 25 * MIB),
    ).rejects.toMatchObject({ code: 'service.unavailable' });
    const bytes = await room.read(
      pieces(1, 25 * MIB, { count: 0 }),
      await room.enter('connection'),
      25 * MIB,
      25 * MIB,
    );
    expect(bytes).toHaveLength(25 * MIB);
  });

  it('ends a body that does not come', async () => {
    const room = new IntakeRoom(20);
    const never = (async function* (): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(1);
      await new Promise(() => {});
    })();
    await expect(room.read(never, await room.enter('connection'), MIB, undefined)).rejects.toMatchObject({
      code: 'delivery.too-slow',
    });
  });
});
