import { createHmac, randomUUID } from 'node:crypto';

export const SLACK_SECRET = '8f742231b10e8888abcd99yyyzzz85a5';
/** The body of the issue: would run where a page took it for HTML. */
export const SCRIPT = '<img src=x onerror="document.title=1">';

/** As Gitea delivers the label `slipway` on an issue. */
export const deliverLabel = async (address: string, secret: string, title: string): Promise<number> => {
  const user = { id: 7, login: 'ann' };
  const at = '2026-11-23T10:00:00Z';
  const issue = {
    id: Math.ceil(Math.random() * 1e9),
    number: 12,
    title,
    body: SCRIPT,
    html_url: 'https://git.example.test/acme/shop/issues/12',
    state: 'open',
  };
  const body = JSON.stringify({
    action: 'label_updated',
    repository: { id: 42, full_name: 'acme/shop', private: true, default_branch: 'main' },
    sender: user,
    issue: {
      ...issue,
      user: user,
      created_at: at,
      updated_at: at,
      labels: [{ id: 3, name: 'slipway' }],
      assignees: [],
    },
  });
  const answer = await fetch(address, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-gitea-event': 'issues',
      'x-gitea-event-type': 'issue_label',
      'x-gitea-delivery': randomUUID(),
      'x-gitea-signature': createHmac('sha256', secret).update(body).digest('hex'),
    },
    body,
  });
  return answer.status;
};

/** As Slack delivers a mention. */
export const deliverMention = async (address: string): Promise<number> => {
  const ts = String(Math.floor(Date.now() / 1000));
  const event = {
    type: 'app_mention',
    user: 'U7',
    text: '<@U0> fix the cart',
    ts: `${ts}.000100`,
    channel: 'C1',
    channel_type: 'channel',
    team: 'T1',
  };
  const authorizations = [{ team_id: 'T1', user_id: 'U0', is_bot: true }];
  const body = JSON.stringify({
    type: 'event_callback',
    team_id: 'T1',
    api_app_id: 'A1',
    event_id: randomUUID(),
    event_time: Number(ts),
    authorizations,
    event,
  });
  const signature = `v0=${createHmac('sha256', SLACK_SECRET).update(`v0:${ts}:${body}`).digest('hex')}`;
  const headers = {
    'content-type': 'application/json',
    'x-slack-request-timestamp': ts,
    'x-slack-signature': signature,
  };
  return (await fetch(address, { method: 'POST', headers, body })).status;
};
