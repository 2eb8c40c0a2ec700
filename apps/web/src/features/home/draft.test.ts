import { describe, it } from 'node:test';
import { expect } from 'expect';
import { afterSend, EMPTY_DRAFT, readDraft } from './draft.ts';

describe('readDraft', () => {
  it('takes a broken store for an empty one', () => {
    for (const stored of ['', '{', 'null', '[]', '{"prompt":1}']) expect(readDraft(stored)).toEqual(EMPTY_DRAFT);
  });

  it('takes what an older page kept, which knew fewer fields', () => {
    const kept = { prompt: 'Fix it', repository: '', branch: '', model: '' };
    expect(readDraft(JSON.stringify(kept))).toEqual({ ...EMPTY_DRAFT, prompt: 'Fix it' });
  });

  it('gives back what was kept, and after sending keeps the repository for the next task', () => {
    const draft = { ...EMPTY_DRAFT, prompt: 'Fix it', repository: 'https://git.example/a', branch: 'main', agentType: 'plan' as const, maxIterations: '20' };
    expect(readDraft(JSON.stringify(draft))).toEqual(draft);
    expect(afterSend(draft)).toEqual({ ...draft, prompt: '', agentType: 'default' });
  });
});
