import { describe, expect, it } from '@jest/globals';
import type { OpenSandboxAccess } from '@slipway/contracts/sandboxes';
import { openPorts } from './open-access.ts';

const access = (id: string, port: number, user: string, minute: number): OpenSandboxAccess => ({
  id,
  port,
  url: `http://${port}-x.localhost/`,
  person: { id: user, label: user },
  createdAt: `2026-01-01T00:0${minute}:00.000Z`,
  endsAt: `2026-01-01T12:0${minute}:00.000Z`,
});

describe('openPorts', () => {
  it('has a line for each port and person, which ends all that they opened and lasts as long as the last', () => {
    const lines = openPorts([
      access('d', 3000, 'ada', 4),
      access('c', 3000, 'bob', 3),
      access('b', 5173, 'ada', 2),
      access('a', 3000, 'ada', 1),
    ]);
    expect(lines.map(({ port, user, ids }) => [port, user.id, ids])).toEqual([
      [3000, 'ada', ['d', 'a']],
      [3000, 'bob', ['c']],
      [5173, 'ada', ['b']],
    ]);
    expect(lines[0]).toMatchObject({ openedAt: '2026-01-01T00:04:00.000Z', endsAt: '2026-01-01T12:04:00.000Z' });
  });
});
