import { describe, expect, it } from '@jest/globals';
import { afterSend, EMPTY_DRAFT, readDraft } from './draft.ts';

describe('readDraft', () => {
  it('takes a broken store for an empty one', () => {
    for (const stored of ['', '{', 'null', '[]', '{"prompt":1}']) expect(readDraft(stored)).toEqual(EMPTY_DRAFT);
  });

  it('takes what an older page kept, which knew fewer fields', () => {
    const kept = { prompt: 'Fix it', repository: '', branch: '', model: '' };
    expect(readDraft(JSON.stringify(kept))).toEqual({ ...EMPTY_DRAFT, prompt: 'Fix it' });
  });

  it('gives back what was kept', () => {
    const draft = {
      ...EMPTY_DRAFT,
      prompt: 'Fix it',
      repository: 'https://git.example/a',
      branch: 'main',
      agentType: 'plan' as const,
      maxIterations: '20',
    };
    expect(readDraft(JSON.stringify(draft))).toEqual(draft);
  });
});

describe('afterSend', () => {
  it('keeps repository, branch and model for the next task, and no limit of the last one', () => {
    const kept = { repository: 'gitea:ada/shop', branch: 'main', connection: 'c1', model: 'demo' };
    const draft = {
      ...EMPTY_DRAFT,
      ...kept,
      prompt: 'Fix it',
      agentType: 'plan' as const,
      maxIterations: '2',
      maxBudgetUsd: '0.5',
    };
    expect(afterSend(draft)).toEqual({ ...EMPTY_DRAFT, ...kept });
  });
});
