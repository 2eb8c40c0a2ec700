import { describe, expect, it } from '@jest/globals';
import { fullNameOf, searchOf } from './repository-query.ts';

describe('what is looked for in the list of repositories', () => {
  it('is what is typed, and of a reference its name', () => {
    expect(searchOf('')).toBe('');
    expect(searchOf(' shop ')).toBe('shop');
    expect(searchOf('gitea:ada/shop')).toBe('ada/shop');
    expect(searchOf('gitea:')).toBe('');
  });

  it('is nothing for an address', () => {
    for (const address of ['https://git.example.test/ada/shop', 'http://x', 'git@git.example.test:ada/shop'])
      expect(searchOf(address)).toBe(null);
  });

  it('has the name of a repository in groups whole', () => {
    expect(fullNameOf('gitlab:group/sub/shop')).toBe('group/sub/shop');
  });
});
