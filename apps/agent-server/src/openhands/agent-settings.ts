import type { StartConversationRequest } from '@slipway/contracts/agent';

/** Stands for what is not handed back, as OpenHands writes it. */
const REDACTED = '**********';
/** Keys whose values are credentials. */
const SECRET_KEY = /(api_?key|secret|token|password|credential|authorization|cookie)$|^aws_(access|session)/i;
/** Maps whose every value may be one. */
const SECRET_MAP = /^(env|headers|extra_headers|secrets|secret_sources)$/i;
/** Fields of a start that the platform does not act on and clients read again. */
const HANDED_BACK = [
  'client_tools',
  'tool_module_qualnames',
  'hook_config',
  'plugins',
  'agent_definitions',
  'user_id',
  'parent_conversation_id',
  'forked_from_conversation_id',
  'forked_from_event_id',
] as const;
/** A field that is longer is not kept. UTF-16 code units of JSON. */
const MAX_KEPT = 256 * 1024;

/** What `GET /api/conversations/{id}` returns of a start, without its secrets. */
export function settingsOf(request: StartConversationRequest): Record<string, unknown> {
  const kept: Record<string, unknown> = { agent: { kind: 'Agent', ...(withoutSecrets(request.agent) as object) } };
  for (const name of HANDED_BACK) {
    const value = request[name];
    if (value !== null && value !== undefined && JSON.stringify(value).length <= MAX_KEPT)
      kept[name] = withoutSecrets(value);
  }
  return kept;
}

/** How an MCP server is convinced: the way, and whose name, but nothing that does it. */
function withoutProofs(auth: object): object {
  const shown = ['strategy', 'username', 'header_name', 'headers'];
  const kept = Object.entries(auth).map(([key, item]) => [
    key,
    key !== 'headers' && (shown.includes(key) || item === null) ? item : redacted(item),
  ]);
  return Object.fromEntries(kept);
}

function redacted(item: unknown): unknown {
  return typeof item === 'object' && item !== null
    ? Object.fromEntries(Object.keys(item).map((name) => [name, REDACTED]))
    : REDACTED;
}

/** The value with every credential in it masked. Counts and switches (`max_tokens`) are kept. */
function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      if (typeof item === 'string' && (SECRET_KEY.test(key) || key === 'auth')) return [key, REDACTED];
      if (key === 'auth' && typeof item === 'object' && item !== null) return [key, withoutProofs(item)];
      if (SECRET_MAP.test(key) && typeof item === 'object' && item !== null)
        return [key, Object.fromEntries(Object.keys(item).map((name) => [name, REDACTED]))];
      return [key, withoutSecrets(item)];
    }),
  );
}
