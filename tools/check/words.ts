import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

// A list of ours and not cspell: on this repository cspell with `flagWords` alone takes 45 s of processor time without
// a cache and 8 s with one; this takes half a second. It also flags phrases (`at rest` is a term of encryption, `comes
// to rest` is not) and parts of identifiers.

/** A word that the field has another one for. */
export interface OldWord {
  /** The field's word: style and glossary are in CONTRIBUTING.md. */
  readonly use: string;
  /**
   * Matched, without regard to case, against a line whose identifiers are split: `orgBrake` is `org Brake`, `old_terms`
   * is `old terms`.
   */
  readonly pattern: RegExp;
  /** Where it is a word of the field. */
  readonly except?: RegExp;
  /** Only in Markdown: code has innocent uses. */
  readonly docsOnly?: true;
}

export const OLD_WORDS: readonly OldWord[] = [
  { use: 'outbox job', pattern: /\bwish(?:es|ed)?\b/i },
  { use: 'send, apply, notify', pattern: /\b(?:un)?told\b|\btellings?\b/i },
  { use: 'send, apply, notify, say', pattern: /\btells?\b/i, docsOnly: true },
  { use: 'confirmation policy', pattern: /\bbrakes?\b/i },
  { use: 'run settings', pattern: /\b(?:agent|conversation|run)(?:'?s)? terms\b/i },
  { use: 'proxy, handler, route', pattern: /\bdoors?\b/i },
  { use: 'slots, cache', pattern: /\bstock ?rooms?\b/i },
  { use: 'queue', pattern: /\bwaiting rooms?\b/i },
  { use: 'notifier', pattern: /\bbells?\b/i },
  { use: 'throttle', pattern: /\bfloods?\b/i, docsOnly: true },
  { use: 'transaction, poll, retry', pattern: /\bbreaths?\b/i },
  {
    use: 'idle, paused',
    pattern:
      /\b(?:puts?|comes?|came|goes|went|wants?|brings?|brought) (?:\w+ )?(?:at|to) rest\b|\b(?:agent|conversation|sandbox|run|who|that|it) rests\b/i,
  },
  { use: 'missing, unavailable', pattern: /\black(?:s|ed|ing)?\b/i },
  { use: 'user', pattern: /\bpersons?\b(?! profiles)|\bsomebody\b|\banybody\b/i, docsOnly: true },
  { use: 'credential, authenticate, confirm', pattern: /\bproofs?\b|\bprove[nsd]?\b|\bproving\b/i, docsOnly: true },
  { use: 'credential, authenticated', pattern: /\b(?:un)?proven\b/i },
  { use: 'harness', pattern: /\bscenes?\b/i },
  { use: 'fake', pattern: /\bstand-?ins?\b/i },
  { use: 'pending, unacknowledged', pattern: /\bun(?:heard|taken)\b/i },
  { use: 'restart, previous process', pattern: /\b(?:another|former|earlier|previous|next) (?:life|lives)\b/i },
  { use: 'wire format', pattern: /\bdialects?\b/i, except: /^apps\/llm-gateway\//, docsOnly: true },
  { use: 'behaviour, wire format', pattern: /\bmanners\b/i },
];

/** Files that are read: text of ours that a user, an operator or a developer reads. */
const READ = /\.(?:md|ts|tsx|mts|mjs|sql|ya?ml|json)$/;
/** Of others, made by a program, or a record that must stay as it is: applied migrations, released documents. */
const SKIPPED =
  /(?:^|\/)(?:testdata|fixtures|generated|released|recordings)\/|package-lock\.json$|generated\.ts$|^prisma\/.*\/migrations\/|^CODE_OF_CONDUCT\.md$|^tools\/check\/words(?:\.test)?\.ts$/;

/**
 * Files whose words stand for something that cannot be renamed in one release: fields of the wire (`told`, `lacking`),
 * columns, aliases of `brake` that go in 0.2.0; and data of tests. Only ever shorter.
 */
const NOT_DONE: ReadonlySet<string> = new Set([
  'apps/action-server/src/browser-view/browser-view.test.ts',
  'apps/action-server/src/browser-view/sight.ts',
  'apps/action-server/src/mcp/mcp.test.ts',
  'apps/action-server/src/testing/mcp-hostile-server.ts',
  'apps/action-server/src/testing/mcp-tools.ts',
  'apps/agent-server/src/conversations/conversations.ts',
  'apps/agent-server/src/settings/org-confirmation.ts',
  'apps/agent-server/src/settings/settings-in-order.ts',
  'apps/agent-server/src/settings/earlier-settings.test.ts',
  'apps/agent-server/src/http/router.test.ts',
  'apps/agent-server/src/run/mcp.test.ts',
  'apps/agent-server/src/sandbox/mcp-servers.ts',
  'apps/app-server/src/integrations/sockets/sockets.http.test.ts',
  'apps/app-server/src/organizations/invitations/invitations.http.test.ts',
  'apps/app-server/src/organizations/org-settings/org-settings.service.ts',
  'apps/app-server/src/conversations/run-settings/charge-passes.service.ts',
  'apps/app-server/src/conversations/run-settings/run-settings.http.test.ts',
  'apps/llm-gateway/src/calls/completions.http.test.ts',
  'apps/sandbox-gateway/src/access/grants.queries.ts',
  'apps/web/src/features/browser-view/browser-panel.tsx',
  'apps/web/src/features/conversation/mcp-servers.test.ts',
  'apps/web/src/features/conversation/timeline.ts',
  'apps/worker/src/conversations/spending-sweep.test.ts',
  'apps/worker/src/jobs.ts',
  'apps/worker/src/pull-requests/pull-request-record.ts',
  'apps/worker/src/pull-requests/pull-requests.queries.ts',
  'apps/worker/src/settings/earlier-release.test.ts',
  'apps/worker/src/settings/org-settings-job.ts',
  'apps/worker/src/start/conversation-step.ts',
  'apps/worker/src/testing/fake-agents.ts',
  'apps/worker/src/sweeps/usage/usage.queries.ts',
  'apps/worker/src/worker.test.ts',
  'deploy/images/image-requirements.ts',
  'libs/agent/src/condenser/condensation.ts',
  'libs/agent/src/condenser/summary.ts',
  'libs/agent/src/tools/mcp.test.ts',
  'libs/contracts/src/agent/agent-server.ts',
  'libs/agent-client/src/earlier-settings.ts',
  'libs/contracts/src/agent/earlier-settings.ts',
  'libs/contracts/src/live/browser.ts',
  'libs/contracts/src/agent/mcp.ts',
  'libs/contracts/src/operate/queues.ts',
  'libs/integrations/src/pull-requests/pull-requests.queries.ts',
  'libs/sandbox/src/adapters/kubernetes/watch.test.ts',
  'prisma/app/functions/mirror_earlier_settings.sql',
  'prisma/app/functions/spend_through_sandbox.sql',
  'tests/cluster/names.test.ts',
  'tests/cluster/sandbox-names.test.ts',
  'tests/e2e/hung-server.ts',
  'tests/openhands-sdk/sdk.test.ts',
]);

/** Old words in files of the repository, as sentences that name the word to use. */
export function oldWords(root: string): string[] {
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  return files
    .split('\0')
    .filter((file) => READ.test(file) && !SKIPPED.test(file) && !NOT_DONE.has(file))
    .flatMap((file) => oldWordsIn(file, textOf(path.join(root, file))));
}

export function oldWordsIn(file: string, text: string): string[] {
  const isPage = file.endsWith('.md');
  const rows = OLD_WORDS.filter(({ except, docsOnly }) => !except?.test(file) && (docsOnly !== true || isPage));
  // A page names identifiers and values of the wire as they are: the code is where they are held to the words.
  const words = split(isPage ? text.replaceAll(/`[^`\n]+`|\]\([^)\n]+\)/g, '') : text);
  // The whole file first: most have nothing.
  const found = rows.filter(({ pattern }) => pattern.test(words));
  if (found.length === 0) return [];
  return words
    .split('\n')
    .flatMap((line, index) =>
      found.flatMap(({ pattern, use }) =>
        pattern.test(line) ? [`${file}:${index + 1} says "${pattern.exec(line)?.[0]}": use ${use}`] : [],
      ),
    );
}

/** Parts of identifiers as words. */
const split = (text: string): string => text.replaceAll(/(?<=[a-z0-9])(?=[A-Z])|_/g, ' ');

/** Empty for a file that is deleted and not committed yet. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
