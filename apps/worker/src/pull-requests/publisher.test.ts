import { describe, expect, it } from '@jest/globals';
import type { AgentClient } from '@slipway/agent-client';
import type { PullRequestRow } from '@slipway/integrations/pull-requests';
import { until } from '@slipway/testing';
import { Publisher, type PublishPlace } from './publisher.js';

describe('publishing', () => {
  it('adversary: a sandbox that gives nothing away holds up its own organization, and no other', async () => {
    const asked: string[] = [];
    const never = (what: string): Promise<never> => {
      asked.push(what);
      return new Promise(() => {});
    };
    // Nothing behind a publish answers.
    const publisher = new Publisher(
      { connect: () => never('database'), query: () => never('database') } as unknown as ConstructorParameters<
        typeof Publisher
      >[0],
      {} as ConstructorParameters<typeof Publisher>[1],
      () => never('rights'),
      { now: () => new Date() },
    );
    const row = (orgId: string): PullRequestRow =>
      ({ orgId, wanted: { by: { kind: 'user', id: 'u', label: 'U' } } }) as unknown as PullRequestRow;
    const gone = new AbortController();
    const place = {
      conversation: { workingDir: '/w', baseCommit: 'a'.repeat(40), sandboxStatus: 'RUNNING' },
      agent: {} as AgentClient,
      signal: gone.signal,
    } as unknown as PublishPlace;
    void publisher.publish(row('hostile'), place);
    await until('the first is under way', () => asked.length > 0);
    await expect(publisher.publish(row('hostile'), place)).rejects.toMatchObject({ code: 'service.unavailable' });
    const before = asked.length;
    void publisher.publish(row('other'), place);
    await until('that of another organization is under way', () => asked.length > before);
    await expect(publisher.publish(row('third'), place)).rejects.toMatchObject({ code: 'service.unavailable' });
  });
});
