import type { GitLabNote, GitLabProject, GitLabThread, GitLabUser } from './model.js';

/** Bodies of webhooks, by the fields of GitLab's documentation that are read. */

const LEVELS = { private: 0, internal: 10, public: 20 } as const;
const userOf = ({ id, username }: GitLabUser): object => ({ id, username, name: username });
const projectOf = ({ id, path, visibility }: GitLabProject): object => ({
  id,
  path_with_namespace: path,
  default_branch: 'main',
  visibility_level: LEVELS[visibility],
});
const labelsOf = (labels: readonly string[]): object[] => labels.map((title) => ({ id: hashOf(title), title }));
const hashOf = (text: string): number =>
  [...text].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 1_000_000, 7);
export const isDraftTitle = (title: string): boolean => /^draft:/i.test(title);

function attributesOf(url: string, { path, id: projectId }: GitLabProject, thread: GitLabThread): object {
  const at = `${url}/${path}/-/${thread.kind}/${thread.iid}`;
  const common = {
    ...{
      id: thread.id,
      iid: thread.iid,
      title: thread.title,
      description: thread.description,
      state: thread.state,
      url: at,
    },
    ...{ author_id: thread.author.id, created_at: '2026-11-25T10:00:00Z', updated_at: new Date().toISOString() },
  };
  if (thread.kind === 'issues') return { ...common, confidential: thread.confidential };
  return {
    ...common,
    ...{
      source_branch: thread.source,
      target_branch: thread.target,
      source_project_id: thread.sourceProject,
      target_project_id: projectId,
    },
    ...{ last_commit: { id: thread.sha ?? '' }, draft: isDraftTitle(thread.title) },
  };
}

export function issueEvent(
  url: string,
  project: GitLabProject,
  issue: GitLabThread,
  by: GitLabUser,
  { action, labelsBefore }: { readonly action: string; readonly labelsBefore?: readonly string[] },
): object {
  const changes =
    labelsBefore === undefined ? {} : { labels: { previous: labelsOf(labelsBefore), current: labelsOf(issue.labels) } };
  return {
    ...{
      object_kind: 'issue',
      event_type: issue.confidential ? 'confidential_issue' : 'issue',
      user: userOf(by),
      project: projectOf(project),
    },
    ...{
      object_attributes: { ...attributesOf(url, project, issue), action },
      labels: labelsOf(issue.labels),
      assignees: [],
      changes,
    },
  };
}

export function mergeRequestEvent(
  url: string,
  project: GitLabProject,
  merge: GitLabThread,
  by: GitLabUser,
  { action, oldrev }: { readonly action: string; readonly oldrev?: string },
): object {
  return {
    ...{
      object_kind: 'merge_request',
      event_type: 'merge_request',
      user: userOf(by),
      project: projectOf(project),
      labels: [],
      assignees: [],
      changes: {},
    },
    object_attributes: { ...attributesOf(url, project, merge), action, ...(oldrev === undefined ? {} : { oldrev }) },
  };
}

export function noteEvent(url: string, project: GitLabProject, on: GitLabThread, note: GitLabNote): object {
  const merge = on.kind === 'merge_requests';
  const position =
    note.position === null ? {} : { position: { new_path: note.position.path, new_line: note.position.line } };
  return {
    ...{
      object_kind: 'note',
      event_type: note.internal || on.confidential ? 'confidential_note' : 'note',
      user: userOf(note.author),
      project: projectOf(project),
    },
    object_attributes: {
      ...{
        id: note.id,
        note: note.body,
        noteable_type: merge ? 'MergeRequest' : 'Issue',
        type: note.position === null ? 'DiscussionNote' : 'DiffNote',
      },
      ...{
        internal: note.internal,
        system: false,
        action: 'create',
        created_at: note.createdAt,
        url: `${url}/${project.path}/-/${on.kind}/${on.iid}#note_${note.id}`,
      },
      ...position,
    },
    [merge ? 'merge_request' : 'issue']: attributesOf(url, project, on),
  };
}

export function pipelineEvent(
  id: number,
  project: GitLabProject,
  { sha, ref, status }: { readonly sha: string; readonly ref: string; readonly status: string },
): object {
  return {
    object_kind: 'pipeline',
    object_attributes: { id, sha, ref, status, tag: false, source: 'push' },
    project: projectOf(project),
    builds: [],
  };
}
