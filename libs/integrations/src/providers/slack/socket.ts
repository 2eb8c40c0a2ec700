import { ProviderRefusal, type RefusalKind } from '../../calls/provider-refusal.js';
import type { SocketAccess } from '../../calls/socket-access.js';
import { fields, flag, maybe, name, text } from '../../reading/fields.js';
import { own } from '../../reading/reading.js';

const opened = fields({ ok: flag, error: maybe(name), url: maybe(text) });
const REFUSALS: Readonly<Record<string, RefusalKind>> = {
  invalid_auth: 'credential',
  not_authed: 'credential',
  token_revoked: 'credential',
  token_expired: 'credential',
  account_inactive: 'credential',
  not_allowed_token_type: 'credential',
  missing_scope: 'credential',
  ratelimited: 'limited',
};
/** Frames that hold what a webhook would bring. Commands are none that we have. */
const DELIVERIES = new Set(['events_api', 'interactive']);

/** Slack's Socket Mode. @see https://docs.slack.dev/apis/events-api/using-socket-mode */
export const slackSocket: SocketAccess = {
  kind: 'socket',
  authorization: (token) => `Bearer ${token}`,
  apiUrl: (baseUrl) => `${baseUrl}/api`,
  open: async (api) => {
    const { body } = await api.call({ method: 'POST', path: '/apps.connections.open', form: {}, answer: opened });
    if (body.ok && body.url !== null) return body.url;
    const kind = REFUSALS[body.error ?? ''] ?? 'unavailable';
    throw new ProviderRefusal(`apps.connections.open: ${body.error ?? 'no url'}`, {
      kind,
      status: 200,
      retryAt: null,
      outcomeUnknown: false,
    });
  },
  read: (frame) => {
    const type = own(frame, 'type');
    if (type === 'hello') return { kind: 'ready' };
    if (type === 'disconnect') return { kind: 'leave', refused: own(frame, 'reason') === 'link_disabled' };
    const envelope = own(frame, 'envelope_id');
    const body = own(frame, 'payload');
    if (typeof envelope !== 'string' || envelope.length > 200) return { kind: 'other' };
    // One that we do not follow is acknowledged all the same, or it comes again.
    if (typeof type !== 'string' || !DELIVERIES.has(type) || typeof body !== 'object' || body === null)
      return { kind: 'delivery', envelope, body: { type: 'other' } };
    return { kind: 'delivery', envelope, body };
  },
  acknowledge: (envelope, answer) =>
    JSON.stringify({ envelope_id: envelope, ...(answer === null ? {} : { payload: answer }) }),
};
