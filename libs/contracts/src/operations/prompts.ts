import { CreatePrompt, ListPromptsQuery, Prompt, PromptPage, UpdatePrompt } from '../conversations/prompts.js';
import type { Operation } from './operation.js';

const PROMPTS = '/api/v1/orgs/{org}/prompts';
const CHANGE = ['request.not-json', 'request.too-large', 'request.cross-site'] as const;

/** Saved prompts, a user's own and the organization's. Those of other users are as if there were none. */
export const promptOperations = {
  listPrompts: {
    id: 'prompts.list',
    method: 'GET',
    path: PROMPTS,
    summary: "The caller's own prompts and the organization's, by name",
    permission: 'prompt:read',
    status: 200,
    query: ListPromptsQuery,
    response: PromptPage,
    idempotency: 'idempotent',
    errors: [],
  },
  createPrompt: {
    id: 'prompts.create',
    method: 'POST',
    path: PROMPTS,
    summary: "Save a prompt for oneself, or with `prompt:manage` for the organization's members",
    permission: 'prompt:write',
    status: 201,
    body: CreatePrompt,
    response: Prompt,
    // Repeated, it meets the name that the first one took.
    idempotency: 'none',
    errors: [...CHANGE, 'prompt.name-taken', 'prompt.too-many'],
  },
  updatePrompt: {
    id: 'prompts.update',
    method: 'PATCH',
    path: `${PROMPTS}/{prompt}`,
    summary: "Change name, description or text of a prompt; the organization's need `prompt:manage`",
    permission: 'prompt:write',
    status: 200,
    body: UpdatePrompt,
    response: Prompt,
    idempotency: 'idempotent',
    errors: [...CHANGE, 'prompt.name-taken'],
  },
  deletePrompt: {
    id: 'prompts.delete',
    method: 'DELETE',
    path: `${PROMPTS}/{prompt}`,
    summary: "Delete a prompt; the organization's need `prompt:manage`",
    permission: 'prompt:write',
    status: 204,
    idempotency: 'idempotent',
    errors: ['request.cross-site'],
  },
} as const satisfies Record<string, Operation>;
