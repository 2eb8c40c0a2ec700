import { headerOf } from '../../delivery.js';
import type { Provider } from '../../provider.js';
import { idAt, ignored, own, plainName, readerOf } from '../../reading/reading.js';
import { linearAnswers } from './calls.js';
import { LINEAR_EVENTS } from './events.js';
import { linearApi, linearLinking } from './linking.js';
import { linearOAuth } from './oauth.js';

export const linear: Provider = {
  id: 'linear',
  name: 'Linear',
  does: ['tickets'],
  host: 'linear.app',
  connections: [{ kind: 'app', name: 'Linear app', signature: 'sha256' }],
  signatures: {
    sha256: {
      kind: 'hmac-sha256',
      header: 'linear-signature',
      encoding: 'hex',
      key: 'utf8',
      signed: ['body'],
      time: { from: { bodyField: 'webhookTimestamp' }, unit: 'ms', toleranceS: 60 },
    },
  },
  maxBytes: 5 * 1024 * 1024,
  form: false,
  tenant: { account: ({ body }) => idAt(body, 'organizationId') },
  // Never `webhookId`, which names the subscription and is the same in every delivery.
  deliveryId: (delivery) => headerOf(delivery, 'linear-delivery') ?? null,
  linking: linearLinking,
  oauth: linearOAuth,
  eventName: ({ body }) =>
    [plainName(own(body, 'type')) ?? 'unknown', plainName(own(body, 'action'))].filter(Boolean).join('.'),
  read: ({ body }, context) => {
    const type = own(body, 'type');
    return (
      readerOf(LINEAR_EVENTS, typeof type === 'string' ? type : '')?.(body, context) ?? ignored('event-not-followed')
    );
  },
  places: { kind: 'team', of: ({ teamKey, team }) => [teamKey, team] },
  answers: {
    // An API key stands alone.
    authorization: (token) => (token.startsWith('lin_api_') ? token : `Bearer ${token}`),
    apiUrl: linearApi,
    calls: linearAnswers,
    follows: (place) => typeof place['session'] === 'string',
    effects: ['link', 'move'],
    reacts: true,
    pace: { burst: 30, everyMs: 3_000 },
  },
};
