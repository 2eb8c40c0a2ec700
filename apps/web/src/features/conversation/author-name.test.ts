import { describe, it } from 'node:test';
import { expect } from 'expect';
import { authorName } from './author-name.ts';

describe('the author of a message', () => {
  it('is "You" for themselves alone', () => {
    const message = { sender: 'Ada', senderId: 'usr_ada' };
    expect([authorName(message, 'usr_ada'), authorName(message, 'usr_bob'), authorName(message, undefined)]).toEqual(['You', 'Ada', 'Ada']);
  });

  it('is nobody where none is known, whoever reads it', () => {
    expect([authorName({ sender: null, senderId: null }, 'usr_ada'), authorName({ sender: 'Ada', senderId: null }, 'usr_ada')]).toEqual([
      'Sender unknown',
      'Ada',
    ]);
  });
});
