import { z } from 'zod';
import { SandboxStatus } from '../conversations/conversations.js';

/** OpenHands' names for the sandbox of a conversation; `id` is the conversation's. */
export const SandboxInfo = z.object({
  id: z.uuid(),
  created_by_user_id: z.string(),
  sandbox_spec_id: z.string(),
  status: SandboxStatus,
  /**
   * For `X-Session-API-Key` at its addresses, while it runs and for callers with access: their own, for half a day,
   * revoked with the credential that it was made with.
   */
  session_api_key: z.string().nullable(),
  exposed_urls: z.array(z.object({ name: z.string(), url: z.url(), port: z.int() })).nullable(),
  created_at: z.iso.datetime(),
  status_detail: z.string().nullable(),
});
export type SandboxInfo = z.infer<typeof SandboxInfo>;
export const SandboxInfoList = z.array(SandboxInfo.nullable());

/** Entry of a list: reading one by id counts as access, so only that answer has key and address. */
export const SandboxPage = z.object({
  items: z.array(SandboxInfo.extend({ session_api_key: z.null(), exposed_urls: z.null() })),
  next_page_id: z.uuid().nullable(),
});
export type SandboxPage = z.infer<typeof SandboxPage>;
/** `page_id`: `next_page_id` of the page before. */
export const SearchSandboxesQuery = z.object({
  page_id: z.uuid().optional(),
  limit: z.coerce.number().int().min(1).max(100).default(100),
});
export type SearchSandboxesQuery = z.infer<typeof SearchSandboxesQuery>;

/** `sandbox_spec_id` is accepted and changes nothing: the installation's default template is started. */
export const StartSandboxQuery = z.object({ sandbox_spec_id: z.string().max(500).optional() });

/** `id` once or several times. */
export const GetSandboxesQuery = z.object({
  id: z.preprocess(
    (given) => (given === undefined || Array.isArray(given) ? given : [given]),
    z.array(z.uuid()).min(1).max(100),
  ),
});
export type GetSandboxesQuery = z.infer<typeof GetSandboxesQuery>;
/** `GET /api/v1/users/me`, as `get_llm` and `get_mcp_config` of OpenHands' client read it. */
export const SandboxUser = z.object({
  id: z.string(),
  /** What a sandbox of `/api/v1/sandboxes` is started with, in llm-gateway's words for it. */
  llm_model: z.string().nullable(),
  /** Never: agent-server gives a start that names neither the key and the address that are good for it. */
  llm_api_key: z.null(),
  llm_base_url: z.null(),
  /** By name, those that llm-gateway has the key of. */
  llm_profiles: z.object({ profiles: z.record(z.string(), z.looseObject({ model: z.string() })) }),
  /** MCP servers hold credentials, and come only with conversations of the app. */
  mcp_config: z.null(),
});
export type SandboxUser = z.infer<typeof SandboxUser>;
/** Accepted and ignored. */
export const SandboxUserQuery = z.object({ expose_secrets: z.stringbool().optional() });

/** Names of what commands of a sandbox have as variables. */
export const SandboxSecretNames = z.object({
  secrets: z.array(z.object({ name: z.string(), description: z.string().nullable() })),
});
export type SandboxSecretNames = z.infer<typeof SandboxSecretNames>;
/** As OpenHands' client says it; agent profiles have no name here. */
export const SandboxSecretNamesQuery = z.object({ agent_profile_id: z.string().max(100).optional() });

/** OpenHands' client says the id of the path once more. */
export const DeleteSandboxQuery = z.object({ sandbox_id: z.string().max(100).optional() });
