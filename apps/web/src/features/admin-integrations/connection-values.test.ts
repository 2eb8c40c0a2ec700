import { describe, expect, it } from '@jest/globals';
import {
  CreateIntegrationConnection,
  type IntegrationConnection,
  UpdateIntegrationConnection,
} from '@slipway/contracts/integrations';
import { changeOf, creationOf, valuesOf } from './connection-values.ts';

const connection = {
  name: 'Shop',
  settings: {
    labels: ['slipway', 'agent'],
    bots: ['7'],
    confidential: true,
    defaultRepository: 'https://git.example.test/acme/shop',
    baseUrl: null,
    publish: 'offered',
    repositories: [{ place: 'SHOP', repository: 'https://git.example.test/acme/shop' }],
    processors: { reaction: true, comment: true, link: false, start: true, done: 'merged' },
    fixChecks: 'automatic',
    fixRounds: 3,
  },
  own: { ids: ['42'], mention: 'slipway' },
} as unknown as IntegrationConnection;

describe('the form of a connection', () => {
  it('sends back what it was filled from', () => {
    const change = UpdateIntegrationConnection.parse(changeOf(valuesOf(connection), connection));
    expect(change).toEqual({ name: 'Shop', settings: connection.settings, own: connection.own });
  });

  it('keeps settings that it does not show', () => {
    const newer = {
      ...connection,
      settings: { ...connection.settings, newer: 'kept' },
    } as unknown as IntegrationConnection;
    expect(changeOf(valuesOf(newer), newer)).toMatchObject({ settings: { newer: 'kept' } });
  });

  it('reads lists by commas and lines, an address as its host, and a mention with its @', () => {
    const values = valuesOf(null);
    const body = CreateIntegrationConnection.parse(
      creationOf('gitea', {
        ...values,
        name: 'Gitea',
        kind: 'token',
        host: 'http://Git.Example.test:3000/acme',
        webhookSecret: '',
        settings: { ...values.settings, labels: 'slipway, agent\nagent,' },
        own: { ...values.own, mention: '@helper' },
      }),
    );
    expect(body).toMatchObject({
      host: 'git.example.test:3000',
      settings: { labels: ['slipway', 'agent'] },
      own: { mention: 'helper' },
    });
    expect(body).not.toHaveProperty('webhookSecret');
    expect(body).not.toHaveProperty('token');
  });

  it('sends an access token only when one is typed', () => {
    expect(changeOf(valuesOf(connection), connection)).not.toHaveProperty('token');
    expect(changeOf({ ...valuesOf(connection), token: 'a-token-of-a-bot' }, connection)).toMatchObject({
      token: 'a-token-of-a-bot',
    });
  });
});
