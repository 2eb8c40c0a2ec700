import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type ScriptedVendor, slackVendor } from '@slipway/integrations/testing';
import { TrackerWorld } from '../testing/tracker-world.js';

describe('what the agent does now, in a thread of Slack', () => {
  let world: TrackerWorld;
  let vendor: ScriptedVendor;
  let threads = 0;
  beforeAll(async () => {
    vendor = slackVendor();
    world = await TrackerWorld.open('slack', vendor, 'U1');
  });
  afterAll(() => world?.close());
  beforeEach(async () => {
    await world.reset();
    Object.assign(vendor.status, { allowed: true, calls: 0 });
    vendor.status.shown.clear();
  });

  async function asked(): Promise<{ id: string; place: string; again: () => Promise<unknown> }> {
    threads += 1;
    const root = `17600000${String(threads).padStart(2, '0')}.000100`;
    const mention = (ts: string): object => ({
      type: 'event_callback',
      team_id: 'T1',
      event: {
        type: 'app_mention',
        user: 'U1',
        text: '<@app-user> fix it',
        ts,
        thread_ts: root,
        channel: 'C1',
        channel_type: 'channel',
        team: 'T1',
      },
    });
    const { conversationId: id } = await world.take(mention(root));
    await world.hears(id);
    return { id, place: `C1 ${root}`, again: () => world.take(mention(`${root}1`)) };
  }
  /** As the outbox brings the job again, until the thread says it. */
  const says = (id: string, place: string, words: string): Promise<void> =>
    world.settle(id, () => vendor.status.shown.get(place) === words);

  it('is the kind of its step, and gone when it is paused', async () => {
    const { id, place } = await asked();
    await world.becomes(id, 'running');
    await says(id, place, 'is working…');
    await world.does(id, { kind: 'TerminalAction', command: 'cat /secret' });
    await says(id, place, 'is running a command…');
    await world.does(id, { kind: 'FileEditorAction', command: 'view', path: '/x' });
    await says(id, place, 'is looking at files…');
    await world.becomes(id, 'finished');
    await says(id, place, '');
    expect(vendor.status.calls).toBe(4);
  });

  it('is said at most every 15 s, and again before Slack takes it away', async () => {
    const { id, place } = await asked();
    await world.becomes(id, 'running');
    await says(id, place, 'is working…');
    const began = world.now;
    for (let more = 0; more < 20; more += 1)
      await world.does(id, { kind: more % 2 === 0 ? 'TerminalAction' : 'BrowserClickAction' });
    await world.settle(id, () => world.now - began > 190_000);
    expect(vendor.status.calls).toBeGreaterThanOrEqual(3);
    expect(vendor.status.calls).toBeLessThanOrEqual(1 + 190 / 15);
  });

  it('is asked for once a request where Slack refuses it, and the answer comes anyway', async () => {
    vendor.status.allowed = false;
    const { id, again } = await asked();
    await world.becomes(id, 'running');
    await world.settle(id);
    await world.does(id, { kind: 'TerminalAction', command: 'x' });
    await world.settle(id);
    expect([vendor.status.calls, world.shown()]).toEqual([1, [expect.stringContaining('Slipway is working on this.')]]);
    await again();
    await world.settle(id);
    expect(vendor.status.calls).toBe(2);
  });
});
