import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import examples from '@octokit/webhooks-examples' with { type: 'json' };
import { skipTest } from '@slipway/testing/jest';
import { goModule } from '@slipway/testing/programs';
import fc from 'fast-check';
import type { ReadDelivery } from '../delivery.js';
import type { Reading } from '../intent.js';
import type { Provider } from '../provider.js';
import { contextWith, type Json } from '../testing/deliveries.js';
import { SAMPLES } from '../testing/samples.js';
import { PROVIDERS } from './index.js';

/** Nothing of these payloads is ours: they come from packages of others, and are not kept in this repository. */
const CONTEXT = contextWith({ labels: ['bug', 'api'], confidential: true, ours: () => true });
const INSTALLATION = 4_711;

const kindOf = (reading: Reading): string => {
  if (reading.kind === 'ignored') return reading.reason;
  if (reading.kind === 'intent') return `intent ${reading.intent.trigger}`;
  if (reading.kind === 'lifecycle') return reading.lifecycle.kind;
  return reading.kind;
};

/** `event.action` → what its examples are read as. Those that are not followed are left out. */
function readAll(provider: Provider, deliveries: readonly ReadDelivery[]): Record<string, string[]> {
  const read: Record<string, Set<string>> = {};
  for (const delivery of deliveries) {
    const kind = kindOf(provider.read(delivery, CONTEXT));
    const event = provider.eventName(delivery);
    if (kind !== 'event-not-followed') read[event] = (read[event] ?? new Set()).add(kind);
  }
  return Object.fromEntries(Object.entries(read).map(([event, kinds]) => [event, [...kinds].sort()]));
}

const github: ReadDelivery[] = (examples as unknown as { name: string; examples: Json[] }[]).flatMap(
  ({ name, examples }) =>
    examples.map((body, index) => ({
      headers: { 'x-github-event': name, 'x-github-delivery': `${name}-${index}` },
      // Most were recorded by hooks of a repository.
      body: { ...body, installation: { ...(body['installation'] as Json | undefined), id: INSTALLATION } },
    })),
);

describe('examples of GitHub', () => {
  it('are read as what they are', () => {
    expect(readAll(PROVIDERS.github, github)).toEqual({
      'check_suite.completed': ['outcome'],
      'github_app_authorization.revoked': ['authorization-revoked'],
      'installation.created': ['access-changed'],
      'installation.deleted': ['removed'],
      'installation.new_permissions_accepted': ['access-changed'],
      'installation.suspend': ['suspended'],
      'installation.unsuspend': ['restored'],
      'installation_repositories.added': ['access-changed'],
      'installation_repositories.removed': ['access-changed'],
      'issue_comment.created': ['no-trigger'],
      'issue_comment.deleted': ['deleted'],
      'issue_comment.edited': ['edited'],
      'issues.assigned': ['no-trigger'],
      'issues.deleted': ['deleted'],
      'issues.edited': ['edited'],
      'issues.labeled': ['intent label'],
      'issues.opened': ['no-trigger'],
      ping: ['verified'],
      'pull_request.assigned': ['no-trigger'],
      'pull_request.closed': ['outcome'],
      'pull_request.converted_to_draft': ['outcome'],
      'pull_request.labeled': ['intent label'],
      'pull_request.opened': ['no-trigger'],
      'pull_request.ready_for_review': ['outcome'],
      'pull_request.reopened': ['outcome'],
      'pull_request.review_requested': ['no-trigger'],
      'pull_request.synchronize': ['outcome'],
      'pull_request_review.submitted': ['no-trigger'],
      'pull_request_review_comment.created': ['no-trigger'],
      'pull_request_review_comment.deleted': ['deleted'],
      'pull_request_review_comment.edited': ['edited'],
      status: ['outcome'],
      'workflow_run.completed': ['no-trigger', 'outcome'],
    });
  });

  it('name their installation and themselves', () => {
    for (const delivery of github) {
      expect(PROVIDERS.github.tenant.account(delivery)).toBe(String(INSTALLATION));
      expect(PROVIDERS.github.deliveryId(delivery)).toBe(delivery.headers['x-github-delivery']);
    }
  });
});

const GO_PLAYGROUND = ['github.com/go-playground/webhooks/v6', 'v6.4.0'] as const;
/** What the module's files were sent as. */
const GITEA_EVENTS: Readonly<Record<string, string>> = {
  'issue-assign-event': 'issues',
  'issue-comment-event': 'issue_comment',
  'issue-label-event': 'issues',
  'issue-milestone-event': 'issues',
  'issues-event': 'issues',
  'pull-request-assign-event': 'pull_request',
  'pull-request-comment-event': 'issue_comment',
  'pull-request-event': 'pull_request',
  'pull-request-label-event': 'pull_request',
  'pull-request-milestone-event': 'pull_request',
  'pull-request-review-event': 'pull_request_comment',
};
const bodiesOf = (folder: string): [string, Json][] =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .map((file) => [file.replace(/\.json$/, ''), JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as Json]);

describe('examples of Gitea', () => {
  it('are read as what they are', async () => {
    const module = await goModule(...GO_PLAYGROUND);
    if ('missing' in module) return skipTest(module.missing);
    const deliveries = bodiesOf(path.join(module.folder, 'testdata/gitea')).map(([file, body]) => ({
      headers: { 'x-gitea-event': GITEA_EVENTS[file] ?? file.replace('-event', '') },
      body,
    }));
    const unknown = { ...CONTEXT, ours: () => false };
    expect(
      deliveries
        .map((delivery) => kindOf(PROVIDERS.gitea.read(delivery, unknown)))
        .filter((kind) => kind !== 'event-not-followed'),
    ).toEqual([
      'no-trigger',
      'no-trigger',
      'intent label',
      'no-trigger',
      'no-trigger',
      'no-trigger',
      'no-trigger',
      'intent label',
      'no-trigger',
    ]);
    expect(deliveries.every((delivery) => kindOf(PROVIDERS.gitea.read(delivery, CONTEXT)) !== 'unreadable')).toBe(true);
  });
});

const CLIENT_GO = ['gitlab.com/gitlab-org/api/client-go/v2', 'v2.64.0'] as const;

describe('examples of GitLab', () => {
  it('are read as what they are', async () => {
    const [newer, older] = await Promise.all([goModule(...CLIENT_GO), goModule(...GO_PLAYGROUND)]);
    if ('missing' in newer) return skipTest(newer.missing);
    if ('missing' in older) return skipTest(older.missing);
    const folders = [path.join(newer.folder, 'testdata/webhooks'), path.join(older.folder, 'testdata/gitlab')];
    const deliveries = folders.flatMap(bodiesOf).map(([, body]) => ({ headers: {}, body }));
    expect(deliveries.length).toBeGreaterThan(60);
    // `unreadable`: those of old releases, which name no id of the user or project, so that no right can be checked.
    expect(readAll(PROVIDERS.gitlab, deliveries)).toEqual({
      'issue.open': ['intent label', 'unreadable'],
      merge_request: ['unreadable'],
      'merge_request.merge': ['unreadable'],
      'merge_request.open': ['intent label'],
      'merge_request.update': ['outcome'],
      note: ['no-trigger', 'unreadable'],
      'note.create': ['no-trigger'],
      pipeline: ['outcome'],
    });
  });
});

/** What distinguishes its events, where a header says it. */
const HEADERS: Readonly<Partial<Record<string, string>>> = { github: 'x-github-event', gitea: 'x-gitea-event' };
const EVENTS = [
  ...new Set(github.map(({ headers }) => headers['x-github-event'] as string)),
  'pull_request_rejected',
  '__proto__',
  'toString',
  '',
];

describe('a provider, of a body that an attacker has made,', () => {
  const anyJson = fc.jsonValue({ maxDepth: 5 });
  const bodies = [...github.map(({ body }) => body), ...SAMPLES.map(({ body }) => body)];

  for (const [id, provider] of Object.entries(PROVIDERS) as [string, Provider][]) {
    const header = HEADERS[id];
    const check = (event: string, body: unknown): void => {
      const delivery: ReadDelivery = { headers: header === undefined ? {} : { [header]: event }, body };
      const reading = provider.read(delivery, CONTEXT);
      expect(provider.read(structuredClone(delivery), CONTEXT)).toEqual(reading);
      expect(provider.eventName(delivery)).toMatch(/^[\w:. -]{1,170}$/);
      provider.deliveryId(delivery);
      provider.tenant.account(delivery);
    };

    it(`never throws, and reads the same bytes the same: any JSON (${id})`, () => {
      fc.assert(fc.property(fc.constantFrom(...EVENTS), anyJson, check));
    });

    it(`never throws, and reads the same bytes the same: real bodies with any part changed (${id})`, () => {
      // A provider whose events are named in the body is given its own.
      const own =
        header === undefined ? SAMPLES.filter((sample) => sample.provider === id).map(({ body }) => body) : bodies;
      fc.assert(
        fc.property(
          fc.constantFrom(...EVENTS),
          fc.constantFrom(...own),
          fc.array(fc.nat(), { maxLength: 5 }),
          anyJson,
          (event, body, way, value) => check(event, changed(body, way, value)),
        ),
        { numRuns: 1_000 },
      );
    });
  }
});

/** The same JSON with the part at the end of `way` replaced; the way is taken modulo the number of parts. */
function changed(body: unknown, way: readonly number[], value: unknown): unknown {
  const [step, ...rest] = way;
  if (step === undefined || typeof body !== 'object' || body === null) return value;
  if (Array.isArray(body))
    return body.map((item, index) => (index === step % body.length ? changed(item, rest, value) : item));
  const names = Object.keys(body);
  const name = names[step % names.length];
  return name === undefined ? value : { ...body, [name]: changed((body as Json)[name], rest, value) };
}
