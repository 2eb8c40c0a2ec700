import { describe, expect, it } from '@jest/globals';
import { PERMISSIONS, type Permission } from '@slipway/contracts/organizations';
import { t } from '../../messages/testing.ts';
import { permissionWords } from './permission-words.ts';

describe('a permission', () => {
  it('has words of its own, whichever it is', () => {
    const words = PERMISSIONS.map((permission) => permissionWords(t, permission));
    expect(PERMISSIONS.filter((permission, at) => words[at] === permission)).toEqual([]);
    expect(new Set(words).size).toBe(PERMISSIONS.length);
  });

  it('stays as it is where a newer server knows one that nobody has words for', () => {
    expect(permissionWords(t, 'robot:dance' as Permission)).toBe('robot:dance');
  });
});
