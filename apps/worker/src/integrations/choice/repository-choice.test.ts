import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type ScriptedVendor, slackVendor } from '@slipway/integrations/testing';
import { dyingPool } from '../testing/dying-pool.js';
import { TrackerWorld } from '../testing/tracker-world.js';

const GIT = '0a1b2c3d-3f1d-4c8e-9a57-2f6f4f0d7c44';
const SHOP = '0a1b2c3d acme/shop';
const ANN = 'U1';

describe('a choice of the repository in Slack', () => {
  let world: TrackerWorld;
  let vendor: ScriptedVendor;
  let threads = 0;
  beforeAll(async () => {
    vendor = slackVendor();
    world = await TrackerWorld.open('slack', vendor, ANN, {
      repositories: [{ place: 'C9', repository: 'https://git.example/acme/usual' }],
    });
    await world.owner.query(
      `INSERT INTO app.user_account (id, issuer, subject, name) VALUES ('usr_bob', 'test', 'bob', 'Bob')`,
    );
    await world.owner.query(
      `INSERT INTO app.membership (org_id, user_id, role) VALUES ('org_tracker', 'usr_bob', 'member')`,
    );
    await world.owner.query(
      `INSERT INTO app.external_identity (provider, host, external_user_id, user_id, login) VALUES ('slack', $1, 'U2', 'usr_bob', 'bob')`,
      [world.host],
    );
    await world.owner.query(
      `INSERT INTO app.integration_connection (id, org_id, provider, kind, name, host, signature, own, settings, created_by, created_by_label)
       VALUES ($1, 'org_tracker', 'gitea', 'token', 'g', 'git.example', 'sha256', '{"ids":[],"mention":"slipway"}', '{"labels":[],"bots":[],"confidential":false,"defaultRepository":null}', 'u', 'u')`,
      [GIT],
    );
  });
  afterAll(() => world?.close());
  beforeEach(async () => {
    await world.reset();
    await world.owner.query('DELETE FROM app.thread_answer');
    await world.owner.query('DELETE FROM app.outbox');
  });

  const thread = (): string => {
    threads += 1;
    return `17600000${String(threads).padStart(2, '0')}.000100`;
  };
  const mention = (ts: string, text: string, { in: root = ts, user = ANN, channel = 'C1' } = {}): object => ({
    type: 'event_callback',
    team_id: 'T1',
    event: {
      type: 'app_mention',
      user,
      text: `<@app-user> ${text}`,
      ts,
      ...(root === ts ? {} : { thread_ts: root }),
      channel,
      channel_type: 'channel',
      team: 'T1',
    },
  });
  const chooses = (root: string, value: string, user = ANN, at = '1760000099.1'): object => ({
    type: 'block_actions',
    user: { id: user, team_id: 'T1' },
    team: { id: 'T1' },
    container: { channel_id: 'C1', message_ts: `${root}9`, thread_ts: root },
    actions: [{ action_id: 'slipway.repository', action_ts: at, selected_option: { value } }],
  });
  const conversation = async (id: string): Promise<unknown> =>
    (await world.owner.query('SELECT repository FROM app.conversation WHERE id = $1', [id])).rows[0];
  const conversations = async (): Promise<number> =>
    (await world.owner.query('SELECT 1 FROM app.conversation')).rowCount ?? 0;

  it('is asked for once, and starts what was asked for, whose progress takes the place of the question', async () => {
    const root = thread();
    const before = await conversations();
    expect((await world.take(mention(root, 'fix the total'))).outcome).toBe('done repository-asked');
    expect((await world.take(mention(`${root}1`, 'and the tax', { in: root }))).outcome).toBe('done repository-asked');
    await world.runNotices();
    expect([world.shown(), vendor.reactions.length, await conversations()]).toEqual([
      ['Which repository is this about? [choice]'],
      2,
      before,
    ]);
    const { outcome, conversationId } = await world.take(chooses(root, SHOP));
    expect([outcome, await conversation(conversationId)]).toEqual([
      'done conversation-started',
      { repository: 'https://git.example/acme/shop' },
    ]);
    const { rows } = await world.owner.query('SELECT text FROM app.inbox_message WHERE conversation_id = $1', [
      conversationId,
    ]);
    expect(rows.map(({ text }) => [text.includes('fix the total'), text.includes('and the tax')])).toEqual([
      [true, true],
    ]);
    await world.hears(conversationId);
    await world.says(conversationId, 'Added up.');
    await world.becomes(conversationId, 'finished');
    await world.settle(conversationId);
    expect(world.shown()).toEqual([expect.stringMatching(/^Slipway has finished\. It says:\n\n> Added up\./)]);
    expect((await world.take(chooses(root, SHOP, ANN, '1760000100.1'))).outcome).toBe('ignored nothing-to-choose');
    expect((await world.take(mention(`${root}2`, 'once more', { in: root }))).outcome).toBe('done message-added');
  });

  it('is not asked for where the channel has a repository, and none can be wanted', async () => {
    const named = thread();
    const { outcome, conversationId } = await world.take(mention(named, 'fix it', { channel: 'C9' }));
    expect([outcome, await conversation(conversationId)]).toEqual([
      'done conversation-started',
      { repository: 'https://git.example/acme/usual' },
    ]);
    const root = thread();
    await world.take(mention(root, 'write a poem'));
    const chosen = await world.take(chooses(root, 'none'));
    expect([chosen.outcome, await conversation(chosen.conversationId)]).toEqual([
      'done conversation-started',
      { repository: null },
    ]);
  });

  it('adversary: is made by the requester only, and by no value that was not suggested', async () => {
    const root = thread();
    await world.take(mention(root, 'fix the total'));
    const before = await conversations();
    const values = [
      'x',
      '0a1b2c3d',
      '0a1b2c3d ../../etc',
      'ffffffff acme/shop',
      '0a1b2c3d acme/shop --upload-pack=x',
      '7d0c4a0e acme/shop',
    ];
    for (const [at, value] of values.entries())
      expect((await world.take(chooses(root, value, ANN, `${at}`))).outcome).toBe('ignored nothing-to-choose');
    expect((await world.take(chooses(root, SHOP, 'U2'))).outcome).toBe('ignored choice-of-another');
    expect((await world.take(mention(`${root}1`, 'mine instead', { in: root, user: 'U2' }))).outcome).toBe(
      'refused choice-of-another',
    );
    expect((await world.take(chooses(thread(), SHOP))).outcome).toBe('ignored nothing-to-choose');
    for (let more = 1; more < 10; more += 1) await world.take(mention(`${root}3${more}`, 'and that', { in: root }));
    expect((await world.take(mention(`${root}4`, 'one too many', { in: root }))).outcome).toBe('refused queue-full');
    expect(await conversations()).toBe(before);
  });

  it('is one conversation, wherever a worker is killed and however often the button is pressed', async () => {
    const root = thread();
    const before = await conversations();
    const asked = await world.arrive(mention(root, 'fix the total'));
    for (let dies = 0; dies < 30; dies += 4) await world.decide(asked, dyingPool(world.pool, dies)).catch(() => {});
    expect((await world.decide(asked)).outcome).toBe('done repository-asked');
    vendor.fates = ['lost', 'half', [429, {}, { 'retry-after': '2' }]];
    for (let turn = 0; turn < 6; turn += 1) world.now += (await world.runNotices()) ?? 0;
    const presses = await Promise.all([1, 2, 3].map((at) => world.arrive(chooses(root, SHOP, ANN, `${at}`))));
    for (let dies = 0; dies < 30; dies += 3)
      await world.decide(presses[0] ?? '', dyingPool(world.pool, dies)).catch(() => {});
    await Promise.all(presses.map((press) => world.decide(press).catch(() => world.decide(press))));
    expect(await conversations()).toBe(before + 1);
    const { rows } = await world.owner.query(
      `SELECT conversation_id FROM app.integration_thread WHERE thread_key = $1`,
      [`T1/C1/${root}`],
    );
    await world.settle(rows[0]?.conversation_id);
    expect(world.shown()).toHaveLength(1);
  });
});
