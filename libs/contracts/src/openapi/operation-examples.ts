import type { Json } from './json.js';

interface OperationExample {
  readonly body?: unknown;
  readonly response?: unknown;
  /** Of a download or a stream. */
  readonly text?: string;
}

/** Parameters of paths: what they are, and one. */
export const PARAMETERS: Readonly<Record<string, Json>> = {
  org: { description: 'Id or slug of an organization.', example: 'acme' },
  conversation: { description: 'Id of a conversation.', example: '0198c0de-7a1b-7000-8000-3f6c5d2e9b10' },
  user: { description: 'Id of a user.', example: 'usr_01k2a8m4v3e7tq9d5w6x0n1r2s' },
  link: {
    description: 'Id of a linked account, or of one that waits for confirmation.',
    example: '7c1f2a90-5b3e-4d68-8f41-0a9b6c2d3e57',
  },
  number: { description: 'Number of a pull request at the git host.', example: 12 },
  thread: { description: 'Id of a thread of a review.', example: '0198c0de-7c2d-7000-8000-6d1e4a7d3f21' },
  attachment: { description: 'Id of an attached file.', example: '0198c0de-7c2d-7000-8000-8f1e4a7d3f23' },
  comment: { description: 'Id of a comment in a review.', example: '0198c0de-7c2d-7000-8000-7e1e4a7d3f22' },
  token: { description: 'What the link of the invitation ends with.', example: 'Zm9vYmFyYmF6' },
};

const HASH = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';
const MESSAGE =
  '{"id":"0198c0de-7c2d-7000-8000-5b1e4a7d3f20","kind":"MessageEvent","timestamp":"2026-11-22T09:30:00.000Z","source":"user","llm_message":{"role":"user","content":[{"type":"text","text":"Fix it."}]}}';
const NPM_TOKEN = { name: 'NPM_TOKEN', kind: 'variable', value: 'npm_example', description: 'Publishes packages' };

/** Examples of whole operations, for what cannot be put together from fields. */
export const OPERATION_EXAMPLES: Readonly<Record<string, OperationExample>> = {
  'conversations.events.list': { text: `id: 1\nevent: event\ndata: ${MESSAGE}\n\n` },
  'conversations.blobs.get': { text: 'The output of a command that was too long for its event.' },
  'conversations.attachments.content': { text: 'name,price\nflour,1.20\n' },
  'conversations.diff.get': {
    text: 'diff --git a/src/login.ts b/src/login.ts\n--- a/src/login.ts\n+++ b/src/login.ts\n@@ -1 +1 @@\n-const retries = 0;\n+const retries = 3;\n',
  },
  'conversations.trajectory.get': { text: `[${MESSAGE}]` },
  'conversations.edit': { body: { title: 'Retry on 409', pinned: true, tags: ['billing'] } },
  'conversations.bulk-edit': {
    body: { action: 'tag', ids: ['0198c0de-7a1b-7000-8000-3f6c5d2e9b10'], add: ['billing'], remove: ['later'] },
    response: {
      results: [{ id: '0198c0de-7a1b-7000-8000-3f6c5d2e9b10', outcome: 'done', code: null, detail: null }],
    },
  },
  'api-keys.create': { body: { name: 'Deploys', scopes: ['conversation:create', 'conversation:read'] } },
  'secrets.create': { body: { ...NPM_TOKEN, scope: 'org' } },
  'me.secrets.create': { body: NPM_TOKEN },
  'conversations.secrets.create': { body: NPM_TOKEN },
  'credentials.create': {
    body: {
      name: 'API_TOKEN',
      description: 'For reading orders',
      scope: 'org',
      use: { form: 'bearer', places: [{ host: 'api.example.com', paths: ['/v1/**'] }] },
      value: 'the credential itself',
    },
  },
  'credentials.update': { body: { description: 'For reading orders', state: 'active' } },
  'audit.export': {
    text: `{"kind":"slipway-audit","format":1,"org":"org_1","exportedAt":"2026-11-22T09:30:00.000Z","from":null,"to":null,"after":null,"first":1,"head":{"seq":1,"hash":"${HASH}"}}\n{"kind":"entry","seq":1,"previous":"","hash":"${HASH}","record":"[1, …]","action":"org.create","target":"org_1"}\n{"kind":"end","count":1,"head":{"seq":1,"hash":"${HASH}"}}\n`,
  },
  'prompt-log.export': {
    text: '{"kind":"prompt","id":"0198c0de-7c2d-7000-8000-5b1e4a7d3f20","at":"2026-11-22T09:30:00.000Z","conversationId":"0198c0de-7a1b-7000-8000-3f6c5d2e9b10","userId":"usr_01k2a8m4v3e7tq9d5w6x0n1r2s","requestId":"req_1","model":"sonnet","outcome":"ok","asked":"{…}","answered":"{…}"}\n{"kind":"end","count":1}\n',
  },
  'outcomes.get': {
    text: 'repository,conversations,turns,failed_turns,pull_requests_published,pull_requests_open,pull_requests_closed,pull_requests_merged,merged_share,merged_without_human_commits,merged_with_human_commits,merged_human_commits_unknown,reverted,reverted_settled,reverted_share,reverted_unknown,reverted_pending,reverted_early,edited,edited_settled,edited_share,edited_unknown,edited_pending,edited_early,reverted_or_edited,reverted_or_edited_settled,reverted_or_edited_share,reverted_or_edited_unknown,reverted_or_edited_pending,reverted_or_edited_early,cost_usd,cost_agent_usd,cost_retries_usd,cost_failed_turns_usd,cost_reverted_usd,cost_per_merged_usd,start_waits,start_wait_total_ms,start_wait_median_ms,start_wait_p90_ms,approval_waits,approval_wait_total_ms,approval_wait_median_ms,approval_wait_p90_ms,review_waits,review_wait_total_ms,review_wait_median_ms,review_wait_p90_ms\r\ngit.test/acme/shop,31,64,3,20,2,4,14,0.7777777777777778,9,4,1,1,9,0.1111111111111111,0,5,0,3,9,0.3333333333333333,0,5,0,4,9,0.4444444444444444,0,5,0,24.36,21.4,0.36,1.1,1.5,1.74,31,55800,1600,3100,12,840000,42000,180000,15,162000000,9000000,21600000\r\n',
  },
  'outcomes.users': {
    text: 'user_id,user,conversations,first_at,last_at,month_usd,year_usd,life_usd,pull_requests_published,pull_requests_merged\r\nusr_1,Ada,31,2026-02-03T08:00:00.000Z,2026-11-22T09:30:00.000Z,4.21,61.5,61.5,20,14\r\n',
  },
  'outcomes.conversations': {
    text: 'conversation_id,title,user_id,user,repository,model,source,created_at,duration_ms,turns,failed_turns,prompt_tokens,completion_tokens,cost_usd,pull_requests_published,pull_requests_merged\r\n0198c0de-7a1b-7000-8000-3f6c5d2e9b10,Fix the build,usr_1,Ada,git.test/acme/shop,sonnet,github,2026-11-22T09:30:00.000Z,610000,2,0,48000,3100,0.421,1,1\r\n',
  },
  'usage.get': {
    text: 'day,user,repository,model,requests,failed,promptTokens,cachedTokens,completionTokens,costUsd,unpriced\n2026-11-22,,,,12,0,48000,20000,3100,0.4210,0\n',
  },
};
