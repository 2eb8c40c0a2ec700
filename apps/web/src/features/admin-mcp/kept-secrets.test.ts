import { describe, expect, it } from '@jest/globals';
import { KeptSecrets } from './kept-secrets.ts';

describe('the secrets that are kept with MCP servers', () => {
  it('have the value that was typed last, each made once, also when the server was refused in between', async () => {
    const values = new Map<string, string>();
    let refused = false;
    const kept = new KeptSecrets({
      create: async ({ name, value }) => {
        if (refused) throw new Error('no');
        expect(values.has(name)).toBe(false);
        values.set(name, value);
        return name;
      },
      change: async (id, value) => values.set(id, value),
    });
    await kept.keep([{ name: 'A', value: 'mistyped' }], 'tracker');
    await kept.keep([{ name: 'A', value: 'corrected' }], 'tracker');
    refused = true;
    await expect(
      kept.keep(
        [
          { name: 'A', value: 'corrected' },
          { name: 'B', value: 'other' },
        ],
        'tracker',
      ),
    ).rejects.toThrow('no');
    refused = false;
    expect([kept.has('A'), kept.has('B')]).toEqual([true, false]);
    await kept.keep(
      [
        { name: 'A', value: 'corrected' },
        { name: 'B', value: 'other' },
      ],
      'tracker',
    );
    expect([...values]).toEqual([
      ['A', 'corrected'],
      ['B', 'other'],
    ]);
  });
});
