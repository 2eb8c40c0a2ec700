import { ok, type Route } from '../http/router.js';
import type { AppModelCredentials } from '../run/app-model-credentials.js';

/** As their SDK writes an agent of its own kind. */
const SCHEMA_VERSION = 1;

/**
 * Settings for a client that brings its own agent (`get_llm`, `get_mcp_config`). The app's model has name and address,
 * never a key: a start without one gets it (`AppModelCredentials`). MCP servers hold credentials and come only with a
 * start of the app's.
 */
export function settingsRoutes(models: AppModelCredentials): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/settings',
      access: 'session',
      handle: () => {
        const { model, base_url } = models.model ?? {};
        const llm = model === undefined ? {} : { llm: { model, base_url: base_url ?? null, usage_id: 'agent' } };
        return ok({
          agent_settings: { schema_version: SCHEMA_VERSION, agent_kind: 'openhands', ...llm, mcp_config: {} },
          conversation_settings: {},
          llm_api_key_is_set: model !== undefined,
          active_profile: null,
          active_agent_profile_id: null,
          active_meta_profile: null,
          misc_settings: {},
        });
      },
    },
  ];
}
