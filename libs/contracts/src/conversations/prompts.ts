import { z } from 'zod';
import { PageQuery, pageOf } from './conversations.js';

/** Saved prompts: texts that users put into a message with `/` and their name. */

/** Longest text. UTF-16 code units. */
export const MAX_SAVED_PROMPT_LENGTH = 20_000;
export const MAX_PROMPT_NAME_LENGTH = 64;
export const MAX_PROMPT_DESCRIPTION_LENGTH = 200;
/** Most that an organization has of its own, and most of one user. */
export const MAX_ORG_PROMPTS = 500;
export const MAX_USER_PROMPTS = 200;

/** `user`: seen and changed by the user alone. `org`: for all members to read. */
export const PROMPT_SCOPES = ['user', 'org'] as const;
export const PromptScope = z.enum(PROMPT_SCOPES);
export type PromptScope = z.infer<typeof PromptScope>;

export const PromptName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'must be a-z, 0-9 and -, not - first, at most 64 characters');

const description = z
  .string()
  .trim()
  .max(MAX_PROMPT_DESCRIPTION_LENGTH)
  .refine((value) => !/\p{Cc}|[\u2028\u2029]/u.test(value), 'must be one line');

const text = z
  .string()
  .max(MAX_SAVED_PROMPT_LENGTH)
  .refine((value) => value.trim() !== '', 'must not be empty')
  .refine((value) => !value.includes('\u0000'), 'must not contain the character NUL');

export const CreatePrompt = z.strictObject({
  /** Unique in its scope. */
  name: PromptName,
  description: description.default(''),
  /** `{{field}}` is what a user fills in once the text is in a message. */
  text,
  scope: PromptScope.default('user'),
});
export type CreatePrompt = z.infer<typeof CreatePrompt>;

/** The scope stays; what is left out stays. */
export const UpdatePrompt = z.strictObject({
  name: PromptName.optional(),
  description: description.optional(),
  text: text.optional(),
});
export type UpdatePrompt = z.infer<typeof UpdatePrompt>;

export const Prompt = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  text: z.string(),
  scope: PromptScope,
  createdBy: z.object({ id: z.string(), label: z.string() }),
  createdAt: z.iso.datetime(),
  updatedBy: z.object({ id: z.string(), label: z.string() }),
  updatedAt: z.iso.datetime(),
});
export type Prompt = z.infer<typeof Prompt>;

/** `GET …/prompts`: the caller's own and the organization's. */
export const ListPromptsQuery = PageQuery.extend({
  scope: PromptScope.optional(),
  /** In name or description, whatever their case. Names that begin with it come first. */
  search: z
    .string()
    .max(100)
    .refine((value) => !value.includes('\u0000'), 'must not contain the character NUL')
    .optional(),
});
export type ListPromptsQuery = z.infer<typeof ListPromptsQuery>;
export const PromptPage = pageOf(Prompt);
export type PromptPage = z.infer<typeof PromptPage>;
