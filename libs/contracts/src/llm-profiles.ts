import { z } from 'zod';
import { SecretValue } from './secrets.js';

/**
 * A model with its address, key and manner under a name. Stored and listed; conversations do not use them yet: their models are
 * those that llm-gateway is configured with (`GET …/models`).
 */

/** Most that an organization has. */
export const MAX_LLM_PROFILES = 100;

const name = z.string().trim().min(1).max(100);
const fields = {
  name,
  /** The provider's name of it. */
  model: z.string().trim().min(1).max(200),
  /** OpenAI-compatible, without `/chat/completions`; `null`: the provider's own. https, at a public address. */
  baseUrl: z.url().max(2048).nullable(),
  temperature: z.number().min(0).max(2).nullable(),
  maxOutputTokens: z.int().min(1).max(1_000_000).nullable(),
  /** At most one of an organization: setting it takes it from the other. */
  default: z.boolean(),
};

export const CreateLlmProfile = z.strictObject({
  ...fields,
  baseUrl: fields.baseUrl.default(null),
  temperature: fields.temperature.default(null),
  maxOutputTokens: fields.maxOutputTokens.default(null),
  default: fields.default.default(false),
  /** Goes in and never comes out. */
  apiKey: SecretValue.nullable().default(null),
});
export type CreateLlmProfile = z.infer<typeof CreateLlmProfile>;

/** What is left out stays; `apiKey: null` takes the key away. Another `baseUrl` needs the key again: it was given for the old one. */
export const UpdateLlmProfile = z.strictObject({ ...fields, apiKey: SecretValue.nullable() }).partial();
export type UpdateLlmProfile = z.infer<typeof UpdateLlmProfile>;

export const LlmProfile = z.object({
  id: z.string(),
  ...fields,
  hasApiKey: z.boolean(),
  createdBy: z.object({ id: z.string(), label: z.string() }),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});
export type LlmProfile = z.infer<typeof LlmProfile>;
/** By name; all of them. */
export const LlmProfileList = z.object({ data: z.array(LlmProfile) });
export type LlmProfileList = z.infer<typeof LlmProfileList>;
