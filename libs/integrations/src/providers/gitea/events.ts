import type { Reading } from '../../intent.js';
import type { ReadingContext } from '../../provider.js';
import { fields, flag, list, maybe, name, text } from '../../reading/fields.js';
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
  type Subject,
  user,
} from '../../reading/forge.js';
import { assigned, commented, labelled, opened, orChanged, statusChanged, worded } from '../../reading/forge-events.js';
import { type EventReader, ignored, namesLabel, outcome, reads } from '../../reading/reading.js';

const about = { action: name, repository, sender: user };
const changes = maybe(fields({ body: maybe(fields({ from: text })), added_labels: maybe(list(label)) }));

interface Change {
  readonly subject: Subject;
  readonly sender: { readonly id: string; readonly login: string; readonly type: string | null };
  readonly labels: readonly { readonly id: string; readonly name: string }[];
  readonly assignees: readonly { readonly id: string }[];
  readonly added: readonly { readonly id: string; readonly name: string }[] | null;
}

/**
 * Gitea sends the labels and assignees as they are now, without what they were (`added_labels` is empty up to 1.27).
 * So a label or assignee counts until a conversation has begun; from then on it is one that was there.
 */
function changedTo(
  action: string,
  { subject, sender, labels, assignees, added }: Change,
  context: ReadingContext,
): Reading {
  const deed = { subject, actor: actorOf(sender), context };
  const known = context.ours(subject.thread.key);
  if (action === 'label_updated' || action === 'opened') {
    const candidates = added !== null && added.length > 0 ? added : known ? [] : labels;
    const wanted = candidates.find((each) => namesLabel(context, each.name));
    if (wanted !== undefined) return labelled(deed, wanted);
  }
  if (action === 'assigned' || action === 'opened') {
    const wanted = known ? undefined : assignees.find((each) => context.own.ids.includes(each.id));
    if (wanted !== undefined) return assigned(deed, wanted.id);
  }
  return action === 'opened' ? opened(deed) : ignored('no-trigger');
}

const issues = reads(fields({ ...about, issue, changes }), (body, context) => {
  switch (body.action) {
    case 'edited':
    case 'deleted':
    case 'closed':
      return ignored(body.action);
    case 'opened':
    case 'label_updated':
    case 'assigned': {
      const { labels, assignees } = body.issue;
      const subject = issueSubject(body.issue, body.repository);
      return changedTo(
        body.action,
        { subject, sender: body.sender, labels, assignees, added: body.changes?.added_labels ?? null },
        context,
      );
    }
    default:
      return ignored('event-not-followed');
  }
});

const pullRequests = reads(
  fields({ ...about, pull_request: pullRequest, requested_reviewer: maybe(user), changes }),
  (body, context) => {
    const subject = pullRequestSubject(body.pull_request, body.repository);
    const became = (state: 'merged' | 'closed' | 'reopened' | 'changed'): Reading =>
      outcome({
        kind: 'pull-request',
        repository: repositoryOf(body.repository),
        number: body.pull_request.number,
        state,
      });
    switch (body.action) {
      case 'closed':
        return became(body.pull_request.merged ? 'merged' : 'closed');
      case 'reopened':
        return became('reopened');
      case 'synchronized':
      case 'edited':
        return became('changed');
      case 'review_requested':
        if (body.requested_reviewer === null) return ignored('no-trigger');
        return assigned({ subject, actor: actorOf(body.sender), context }, body.requested_reviewer.id);
      case 'opened':
      case 'label_updated':
      case 'assigned': {
        const { labels, assignees } = body.pull_request;
        return changedTo(
          body.action,
          { subject, sender: body.sender, labels, assignees, added: body.changes?.added_labels ?? null },
          context,
        );
      }
      default:
        return ignored('event-not-followed');
    }
  },
);

const issueComment = reads(fields({ ...about, issue, comment, changes, is_pull: flag }), (body, context) =>
  commented(
    issueSubject({ ...body.issue, pull_request: body.is_pull ? true : body.issue.pull_request }, body.repository),
    context,
    {
      comment: body.comment,
      sender: body.sender,
      action: body.action,
      before: body.changes?.body?.from ?? null,
      trigger: 'mention',
      key: `comment/${body.comment.id}`,
    },
  ),
);

/**
 * A review. Gitea sends neither its id nor its line comments, so those are fetched, and any review of a pull request of
 * ours may hold some: all of them are heard but approvals.
 */
const review = (approval: boolean): EventReader =>
  reads(fields({ ...about, pull_request: pullRequest, review: fields({ content: text }) }), (body, context) => {
    if (body.action !== 'reviewed') return ignored('event-not-followed');
    const subject = pullRequestSubject(body.pull_request, body.repository);
    if (subject.thread.state === 'closed') return ignored('closed');
    const key = `review/${body.sender.id}@${subject.updatedAt}`;
    const actor = actorOf(body.sender);
    const passage = {
      id: key,
      author: actor,
      text: body.review.content,
      createdAt: subject.updatedAt,
      url: subject.thread.url,
    };
    const unasked = !approval && context.ours(subject.thread.key);
    return orChanged(
      subject,
      worded({ subject, actor, context }, passage, {
        trigger: 'review',
        key,
        unasked,
        gatherKey: `review/${body.sender.id}`,
        linesApart: true,
      }),
    );
  });

const run = fields({ head_sha: name, head_branch: maybe(text), conclusion: maybe(text) });

const workflowRun = reads(
  fields({ action: name, repository, workflow_run: run }),
  ({ action, repository, workflow_run: { head_sha, head_branch, conclusion } }) => {
    if (action !== 'completed') return ignored('event-not-followed');
    if (conclusion !== 'success' && conclusion !== 'failure') return ignored('no-trigger');
    if (head_branch === null || head_branch === '') return ignored('no-trigger');
    return outcome({
      kind: 'checks',
      repository: repositoryOf(repository),
      headSha: head_sha,
      branch: head_branch,
      conclusion,
    });
  },
);

/** By `X-Gitea-Event`, which groups what `X-Gitea-Event-Type` separates. */
export const GITEA_EVENTS: Readonly<Record<string, EventReader>> = {
  issues,
  issue_comment: issueComment,
  pull_request: pullRequests,
  pull_request_approved: review(true),
  pull_request_rejected: review(false),
  pull_request_comment: review(false),
  workflow_run: workflowRun,
  status: reads(fields({ repository, sha: name, state: name }), (body) =>
    statusChanged(repositoryOf(body.repository), body.sha, body.state),
  ),
};
