import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type ScriptedVendor, slackVendor } from '@slipway/integrations/testing';
import { TrackerWorld } from '../testing/tracker-world.js';

const LINK = '<https://slipway.test/tracker/conversations';

describe('buttons below a progress message in Slack', () => {
  let world: TrackerWorld;
  let vendor: ScriptedVendor;
  let threads = 0;
  beforeAll(async () => {
    vendor = slackVendor();
    world = await TrackerWorld.open('slack', vendor, 'U1');
  });
  afterAll(() => world?.close());
  beforeEach(() => world.reset());

  const mention = (ts: string): object => ({
    type: 'event_callback',
    team_id: 'T1',
    event: {
      type: 'app_mention',
      user: 'U1',
      text: '<@app-user> fix it',
      ts,
      channel: 'C1',
      channel_type: 'channel',
      team: 'T1',
    },
  });
  async function asked(): Promise<{ id: string; ts: string }> {
    threads += 1;
    const ts = `17600000${String(threads).padStart(2, '0')}.000100`;
    const { conversationId } = await world.take(mention(ts));
    await world.hears(conversationId);
    return { id: conversationId, ts };
  }
  const shown = async (id: string): Promise<string> => {
    await world.settle(id);
    return world.shown()[0]?.replace(/\n\n<https[^>]*>/, '') ?? '';
  };
  const waits = async (id: string, command: string): Promise<string> => {
    await world.becomes(id, 'running');
    await world.does(id, { kind: 'TerminalAction', command });
    await world.becomes(id, 'waiting_for_confirmation');
    return shown(id);
  };

  it('stop what runs, approve and reject what waits, and give way to who answered', async () => {
    const { id } = await asked();
    await world.becomes(id, 'running');
    expect(await shown(id)).toBe('Slipway is working on this. [Stop]');
    expect(await waits(id, 'npm publish')).toBe(
      'Slipway waits for approval of this:\n| terminal\ncommand: npm publish [Approve] [Reject]',
    );
    await world.isAnswered(id, { accepted: true, by: 'Bob <@U1>' });
    await world.becomes(id, 'running');
    expect(await shown(id)).toBe('Slipway is working on this. Approved by Bob &lt;@U1&gt;. [Stop]');
    await world.says(id, 'Done.');
    await world.becomes(id, 'finished');
    expect(await shown(id)).toContain('Slipway has finished. It says:');
    expect(world.shown()[0]).not.toMatch(/\[Stop\]|Approved/);
    expect(world.shown()).toHaveLength(1);
  });

  it('adversary: show what waits literally, without credentials, with unseen characters spelt out', async () => {
    const { id } = await asked();
    const said = await waits(
      id,
      'echo "<!channel> ```" \u202e ghp_abcdefghijklmnopqrstuvwx1234 <https://evil.example|ok>\u{e0041}',
    );
    expect(said).toContain(
      '\n| terminal\ncommand: echo "<!channel> ```" ⟨U+202E⟩ *** <https://evil.example|ok>⟨U+E0041⟩ [Approve] [Reject]',
    );
    expect(said.split('\n|')[0]).toBe('Slipway waits for approval of this:');
  });

  it('adversary: approve nothing that is not shown whole', async () => {
    const { id } = await asked();
    const said = await waits(id, `echo ${'x'.repeat(2_500)}; rm -rf /`);
    expect(said).toMatch(/too long to be shown here/);
    expect(said).toMatch(/\[more than is shown here\] \[Reject\]$/);
    expect(said).not.toContain('[Approve]');
    const put = await asked();
    await world.reset();
    expect(await waits(put.id, `cat\n[blob sha256:${'a'.repeat(64)} 123456 bytes]`)).not.toContain('[Approve]');
  });

  it('are none where the agent works on what was asked elsewhere', async () => {
    const { id } = await asked();
    await world.owner.query(
      `INSERT INTO app.inbox_message (id, org_id, conversation_id, text, created_by, created_by_label) VALUES (gen_random_uuid(), 'org_tracker', $1, 'x', 'u', 'u')`,
      [id],
    );
    await world.hears(id);
    const said = await waits(id, 'cat private.txt');
    expect(said).toBe('Slipway waits for approval of its next step. Approve or reject it in the conversation.');
    expect(world.shown()[0]).toContain(LINK);
  });

  it('hand a press over undecided, and decide for who may not', async () => {
    const { id, ts } = await asked();
    await waits(id, 'npm publish');
    const press = (user: string): object => ({
      type: 'block_actions',
      user: { id: user, team_id: 'T1' },
      team: { id: 'T1' },
      container: { channel_id: 'C1', message_ts: `${ts}9`, thread_ts: ts },
      actions: [{ action_id: 'slipway.press.approve', action_ts: `1.${user}`, value: 'x' }],
    });
    const delivery = await world.arrive(press('U1'));
    expect((await world.decide(delivery)).outcome).toBe('received null');
    const { rows } = await world.owner.query(`SELECT queue, payload FROM app.outbox WHERE key = $1`, [delivery]);
    expect(rows).toEqual([{ queue: 'integration-press', payload: { orgId: 'org_tracker', deliveryId: delivery } }]);
    expect((await world.take(press('U8'))).outcome).toBe('refused actor-not-linked');
  });
});
