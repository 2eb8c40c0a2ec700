import { describe, it } from 'node:test';
import { expect } from 'expect';
import { afterSend, EMPTY_DRAFT, readDraft } from './draft.ts';

describe('readDraft', () => {
  it('takes a broken store for an empty one', () => {
    for (const stored of ['', '{', 'null', '[]', '{"prompt":1}']) expect(readDraft(stored)).toEqual(EMPTY_DRAFT);
  });

  it('gives back what was kept, and after sending keeps the repository for the next task', () => {
    const draft = { prompt: 'Fix it', repository: 'https://git.example/a', branch: 'main', model: 'm' };
    expect(readDraft(JSON.stringify(draft))).toEqual(draft);
    expect(afterSend(draft)).toEqual({ ...draft, prompt: '' });
  });
});
