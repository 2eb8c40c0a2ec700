import { z } from 'zod';

/** What is typed into the composer and not sent yet; kept a browser and an organization. */
export const Draft = z.object({
  prompt: z.string(),
  repository: z.string(),
  branch: z.string(),
  /** Of the repository that was chosen from the list; empty for an address that was typed. */
  connection: z.string().default(''),
  model: z.string(),
  agentType: z.enum(['default', 'plan']).default('default'),
  maxIterations: z.string().default(''),
  maxBudgetUsd: z.string().default(''),
});
export type Draft = z.infer<typeof Draft>;
export const EMPTY_DRAFT: Draft = {
  prompt: '',
  repository: '',
  branch: '',
  connection: '',
  model: '',
  agentType: 'default',
  maxIterations: '',
  maxBudgetUsd: '',
};

/** Anything that is not a draft counts as none: a broken store must never keep the page from opening. */
export function readDraft(stored: string): Draft {
  try {
    const draft = Draft.safeParse(JSON.parse(stored));
    return draft.success ? draft.data : EMPTY_DRAFT;
  } catch {
    return EMPTY_DRAFT;
  }
}

/**
 * After a task is sent, the next one is likely for the same repository and model. Limits were of that task: one that
 * stayed unseen would end the next task early.
 */
export function afterSend(draft: Draft): Draft {
  const { repository, branch, connection, model } = draft;
  return { ...EMPTY_DRAFT, repository, branch, connection, model };
}

/** Where this browser keeps the draft of an organization. */
export function draftKey(orgId: string): string {
  return `slipway.draft.${orgId}`;
}
