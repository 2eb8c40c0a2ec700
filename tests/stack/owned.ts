import { randomUUID } from 'node:crypto';

/** What belongs to one user, by the names of the parameters in the paths. */
export interface Owned {
  readonly org: string;
  readonly conversation: string;
  readonly message: string;
  readonly sha256: string;
  readonly access: string;
}
export const NAMES: Readonly<Record<keyof Owned, true>> = {
  org: true,
  conversation: true,
  message: true,
  sha256: true,
  access: true,
};
/** A query that each operation needs, by its id. */
export const QUERIES: Readonly<Record<string, string>> = {
  'conversations.events.search': '?q=x',
  'conversations.changes.provenance': '?path=x',
  'conversations.attachments.create': '?name=x.txt',
  'conversations.recap.get': '?after=0',
};
/** A body that each operation takes, by its id. */
export const BODIES: Readonly<Record<string, unknown>> = {
  'conversations.create': { prompt: 'x' },
  'conversations.messages.create': { text: 'x' },
  'conversations.edit': { pinned: true },
  'conversations.bulk-edit': { action: 'archive', ids: ['0197c0de-0000-7000-8000-000000000001'] },
  'conversations.messages.update': { text: 'x', version: 1 },
  'conversations.messages.order': { ids: ['0197c0de-0000-7000-8000-000000000001'] },
  'conversations.pull-requests.publish': {},
  'conversations.review.threads.create': {
    anchor: {
      path: 'a.ts',
      side: 'new',
      line: 1,
      endLine: 1,
      hash: '1a',
      before: null,
      after: null,
      copies: 1,
      copy: 1,
      excerpt: 'x',
      base: null,
    },
    text: 'x',
  },
  'conversations.changes.turn-hunk': { file: 'x', status: 'UPDATED', hunk: '@@ -1 +1 @@\n-a\n+b' },
  'conversations.changes.looked': {},
  'conversations.review.viewed.set': { path: 'a.ts', hash: 'x' },
  'conversations.sandbox-access.create': { port: 'agent-server' },
  'conversations.confirmation.answer': { accept: false, actionIds: ['0197c0de-0000-7000-8000-000000000001'] },
  'conversations.confirmation-mode.set': { mode: 'risky' },
  'conversations.model.set': { model: 'slipway-demo' },
  'conversations.read-mark.put': { seq: 1 },
  'conversations.desk-mark.set': { muted: true },
  'conversations.run-settings.update': { maxIterations: 5 },
  'conversations.carry-out-plan': {},
  'conversations.ask': { question: 'x' },
  'conversations.forks.create': { at: { seq: 1 }, prompt: 'x' },
  'conversations.confirmation-rules.revoke': { tool_name: 'terminal', match: 'exact', value: 'x' },
};

/** Ids of the same form that there are not. */
export const nothing = (like: Owned): Owned => ({
  org: like.org.replace(/[a-z0-9]{4}$/, 'zzzz'),
  conversation: randomUUID(),
  message: randomUUID(),
  sha256: '0'.repeat(64),
  access: like.access.replace(/[a-z0-9]{4}$/, 'zzzz'),
});
