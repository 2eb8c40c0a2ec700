import type { Provider } from '../../provider.js';
import { idAt, ignored, lifecycle, own, plainName, readerOf } from '../../reading/reading.js';
import { slackAnswers } from './calls.js';
import { slackChoice } from './choice.js';
import { SLACK_ACTIONS, SLACK_EVENTS } from './events.js';
import { slackLinking } from './linking.js';
import { slackOAuth } from './oauth.js';
import { slackSocket } from './socket.js';
import { slackTokens } from './tokens.js';

const nameOf = (value: unknown): string => (typeof value === 'string' ? value : '');

export const slack: Provider = {
  id: 'slack',
  name: 'Slack',
  does: ['chat'],
  host: 'slack.com',
  connections: [
    { kind: 'app', name: 'Slack app from a manifest', signature: 'v0' },
    { kind: 'socket', name: 'Socket Mode', signature: 'socket' },
  ],
  signatures: {
    v0: {
      kind: 'hmac-sha256',
      header: 'x-slack-signature',
      encoding: 'hex',
      prefix: 'v0=',
      key: 'utf8',
      signed: [{ text: 'v0:' }, { header: 'x-slack-request-timestamp' }, { text: ':' }, 'body'],
      time: { from: { header: 'x-slack-request-timestamp' }, unit: 's', toleranceS: 300 },
    },
    socket: { kind: 'socket' },
  },
  maxBytes: 1024 * 1024,
  form: true,
  // Of an app that is installed for a whole enterprise, the workspace of the event still.
  tenant: { account: ({ body }) => idAt(body, 'team_id') ?? idAt(body, 'team', 'id') },
  deliveryId: ({ body }) => idAt(body, 'event_id') ?? idAt(body, 'trigger_id'),
  linking: slackLinking,
  oauth: slackOAuth,
  tokens: slackTokens,
  eventName: ({ body }) => {
    const event = own(body, 'event');
    const parts = [
      plainName(own(event, 'type')) ?? plainName(own(body, 'type')) ?? 'unknown',
      plainName(own(event, 'subtype')),
    ];
    return parts.filter(Boolean).join('.');
  },
  read: ({ body }, context) => {
    const type = nameOf(own(body, 'type'));
    if (type === 'url_verification') {
      const challenge = own(body, 'challenge');
      return typeof challenge === 'string' && challenge.length <= 1_000
        ? { kind: 'challenge', answer: challenge }
        : ignored('unreadable', 'challenge');
    }
    if (type === 'event_callback') {
      const event = nameOf(own(own(body, 'event'), 'type'));
      if (event === 'app_uninstalled') return lifecycle({ kind: 'removed', account: idAt(body, 'team_id') ?? '' });
      return readerOf(SLACK_EVENTS, event)?.(body, context) ?? ignored('event-not-followed', plainName(event) ?? '');
    }
    return readerOf(SLACK_ACTIONS, type)?.(body, context) ?? ignored('event-not-followed', plainName(type) ?? '');
  },
  sockets: slackSocket,
  choice: slackChoice,
  places: { kind: 'channel', of: ({ channel }) => [channel] },
  // One message a second and channel; an edit is one, too.
  answers: {
    authorization: (token) => `Bearer ${token}`,
    apiUrl: (baseUrl) => `${baseUrl}/api`,
    calls: slackAnswers,
    reacts: true,
    buttons: true,
    // Slack takes it away after two minutes.
    status: { lastsMs: 90_000 },
    pace: { burst: 20, everyMs: 1_200 },
  },
};
