import { z } from 'zod';
import { SecretValue } from '../secrets/secrets.js';

/**
 * A model with its address, key and manner under a name. A conversation uses one that it names as its model,
 * `profile/<name>`, as the profile is at each of its starts; `GET …/models` lists them beside those that llm-gateway is
 * configured with. The default one is the model of a conversation that names none, unless the organization's settings
 * say another.
 */

/** In front of a profile's name where a model is named. */
export const PROFILE_PREFIX = 'profile/';

/** The profile that a model's name names; `null`: it is one of llm-gateway's. */
export function profileNameOf(model: string): string | null {
  return model.startsWith(PROFILE_PREFIX) ? model.slice(PROFILE_PREFIX.length) : null;
}

/** Most that an organization has. */
export const MAX_LLM_PROFILES = 100;

const name = z.string().trim().min(1).max(100);
const fields = {
  name,
  /**
   * The provider's name of it, with the provider in front (`anthropic/claude-…`): openai, anthropic, azure, gemini or
   * bedrock. Without one: OpenAI's, or an OpenAI-compatible server at `baseUrl`; with neither key nor address, a model
   * of llm-gateway.
   */
  model: z.string().trim().min(1).max(200),
  /**
   * Up to and including the version, without `/chat/completions`; `null`: the provider's own. https, at a public
   * address.
   */
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

/**
 * What is left out stays; `apiKey: null` takes the key away. Another `baseUrl` needs the key again: it was given for
 * the old one.
 */
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
