import { describe, expect, it } from '@jest/globals';
import { t } from '../../messages/testing.ts';
import { authorName } from './author-name.ts';

describe('the author of a message', () => {
  it('is "You" for themselves alone', () => {
    const message = { sender: 'Ada', senderId: 'usr_ada' };
    expect([
      authorName(t, message, 'usr_ada'),
      authorName(t, message, 'usr_bob'),
      authorName(t, message, undefined),
    ]).toEqual(['You', 'Ada', 'Ada']);
  });

  it('is nobody where none is known, whoever reads it', () => {
    expect([
      authorName(t, { sender: null, senderId: null }, 'usr_ada'),
      authorName(t, { sender: 'Ada', senderId: null }, 'usr_ada'),
    ]).toEqual(['Unknown sender', 'Ada']);
  });
});
