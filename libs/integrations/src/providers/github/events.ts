import { z } from 'zod';
import type { Reading } from '../../intent.js';
import { fields, id, maybe, moment, name, text, url } from '../../reading/fields.js';
import {
  actorOf,
  comment,
  issue,
  issueSubject,
  label,
  pullRequest,
  pullRequestSubject,
  repository,
  repositoryOf,
  user,
} from '../../reading/forge.js';
import { assigned, commented, labelled, opened, orChanged, statusChanged, worded } from '../../reading/forge-events.js';
import { type EventReader, ignored, lifecycle, outcome, reads } from '../../reading/reading.js';

const about = { action: name, repository, sender: user };
const changed = { changes: maybe(fields({ body: maybe(fields({ from: text })) })) };
const line = maybe(z.number().int().nonnegative());

const issues = reads(fields({ ...about, issue, label: maybe(label), assignee: maybe(user) }), (body, context) => {
  const deed = { subject: issueSubject(body.issue, body.repository), actor: actorOf(body.sender), context };
  switch (body.action) {
    case 'labeled':
      return body.label === null ? ignored('unreadable', 'label') : labelled(deed, body.label);
    case 'assigned':
      return body.assignee === null ? ignored('unreadable', 'assignee') : assigned(deed, body.assignee.id);
    case 'opened':
      return opened(deed);
    case 'edited':
    case 'deleted':
    case 'closed':
      return ignored(body.action);
    default:
      return ignored('event-not-followed');
  }
});

const issueComment = reads(fields({ ...about, ...changed, issue, comment }), (body, context) =>
  commented(issueSubject(body.issue, body.repository), context, {
    comment: body.comment,
    sender: body.sender,
    action: body.action,
    before: body.changes?.body?.from ?? null,
    trigger: 'mention',
    key: `comment/${body.comment.id}`,
  }),
);

const CHANGED = new Set(['synchronize', 'edited', 'converted_to_draft', 'ready_for_review']);

const pullRequests = reads(
  fields({
    ...about,
    pull_request: pullRequest,
    label: maybe(label),
    assignee: maybe(user),
    requested_reviewer: maybe(user),
  }),
  (body, context) => {
    const deed = {
      subject: pullRequestSubject(body.pull_request, body.repository),
      actor: actorOf(body.sender),
      context,
    };
    const became = (state: 'merged' | 'closed' | 'reopened' | 'changed'): Reading =>
      outcome({
        kind: 'pull-request',
        repository: repositoryOf(body.repository),
        number: body.pull_request.number,
        state,
      });
    switch (body.action) {
      case 'labeled':
        return body.label === null ? ignored('unreadable', 'label') : labelled(deed, body.label);
      case 'assigned':
        return body.assignee === null ? ignored('unreadable', 'assignee') : assigned(deed, body.assignee.id);
      case 'review_requested':
        // Of a team, when it names no user.
        return body.requested_reviewer === null ? ignored('no-trigger') : assigned(deed, body.requested_reviewer.id);
      case 'opened':
        return opened(deed);
      case 'closed':
        return became(body.pull_request.merged ? 'merged' : 'closed');
      case 'reopened':
        return became('reopened');
      default:
        return CHANGED.has(body.action) ? became('changed') : ignored('event-not-followed');
    }
  },
);

const review = fields({ id, state: name, body: text, html_url: url, submitted_at: moment, user: maybe(user) });

const reviews = reads(fields({ ...about, pull_request: pullRequest, review }), (body, context) => {
  if (body.action === 'edited') return ignored('edited');
  if (body.action !== 'submitted') return ignored('event-not-followed');
  const subject = pullRequestSubject(body.pull_request, body.repository);
  if (subject.thread.state === 'closed') return ignored('closed');
  const { review } = body;
  const passage = {
    id: review.id,
    author: actorOf(review.user ?? body.sender),
    text: review.body,
    createdAt: review.submitted_at,
    url: review.html_url,
  };
  const reading = worded({ subject, actor: actorOf(body.sender), context }, passage, {
    trigger: 'review',
    key: `review/${review.id}`,
    unasked: review.state.toLowerCase() === 'changes_requested' && context.ours(subject.thread.key),
    gatherKey: `review/${review.id}`,
  });
  return orChanged(subject, reading);
});

const reviewComment = fields({
  id,
  body: text,
  html_url: url,
  created_at: moment,
  user: maybe(user),
  performed_via_github_app: maybe(fields({ id })),
  in_reply_to_id: maybe(id),
  pull_request_review_id: maybe(id),
  path: name,
  line,
  start_line: line,
  side: maybe(z.enum(['LEFT', 'RIGHT'])),
  diff_hunk: text,
});

const reviewComments = reads(
  fields({ ...about, ...changed, pull_request: pullRequest, comment: reviewComment }),
  (body, context) => {
    const { comment } = body;
    const subject = pullRequestSubject(body.pull_request, body.repository);
    return commented(subject, context, {
      comment,
      sender: body.sender,
      action: body.action,
      before: body.changes?.body?.from ?? null,
      trigger: 'review-comment',
      key: `review-comment/${comment.id}`,
      unasked: comment.in_reply_to_id !== null && context.ours(subject.thread.key),
      review: {
        commentId: comment.id,
        inReplyTo: comment.in_reply_to_id,
        path: comment.path,
        line: comment.line,
        startLine: comment.start_line,
        side: comment.side,
        diffHunk: comment.diff_hunk,
      },
      ...(comment.pull_request_review_id === null ? {} : { gatherKey: `review/${comment.pull_request_review_id}` }),
    });
  },
);

const checked = fields({ head_sha: name, head_branch: maybe(name), conclusion: maybe(name) });
const RED = new Set(['failure', 'timed_out']);

function checks(action: string, of: z.output<typeof repository>, run: z.output<typeof checked>): Reading {
  if (action !== 'completed') return ignored('event-not-followed');
  const conclusion = run.conclusion === 'success' ? 'success' : RED.has(run.conclusion ?? '') ? 'failure' : null;
  if (conclusion === null || run.head_branch === null) return ignored('no-trigger');
  return outcome({
    kind: 'checks',
    repository: repositoryOf(of),
    headSha: run.head_sha,
    branch: run.head_branch,
    conclusion,
  });
}

const installation = fields({ action: name, installation: fields({ id }) });
const FATE: Readonly<Record<string, 'removed' | 'suspended' | 'restored'>> = {
  deleted: 'removed',
  suspend: 'suspended',
  unsuspend: 'restored',
};

export const GITHUB_EVENTS: Readonly<Record<string, EventReader>> = {
  issues,
  issue_comment: issueComment,
  pull_request: pullRequests,
  pull_request_review: reviews,
  pull_request_review_comment: reviewComments,
  check_suite: reads(fields({ action: name, repository, check_suite: checked }), (body) =>
    checks(body.action, body.repository, body.check_suite),
  ),
  workflow_run: reads(fields({ action: name, repository, workflow_run: checked }), (body) =>
    checks(body.action, body.repository, body.workflow_run),
  ),
  status: reads(fields({ repository, sha: name, state: name }), (body) =>
    statusChanged(repositoryOf(body.repository), body.sha, body.state),
  ),
  ping: () => lifecycle({ kind: 'verified' }),
  installation: reads(installation, ({ action, installation }) =>
    lifecycle({
      kind: Object.hasOwn(FATE, action) ? (FATE[action] as 'removed') : 'access-changed',
      account: installation.id,
    }),
  ),
  installation_repositories: reads(installation, (body) =>
    lifecycle({ kind: 'access-changed', account: body.installation.id }),
  ),
  github_app_authorization: reads(fields({ action: name, sender: user }), ({ sender }) =>
    lifecycle({ kind: 'authorization-revoked', actorId: sender.id }),
  ),
};
