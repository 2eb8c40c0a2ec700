import {
  DEVELOPER,
  type GitLabProject,
  type GitLabThread,
  type GitLabUser,
  ScriptedGitLab,
} from '@slipway/testing/gitlab';
import type { GitHost, HostAccount, HostRepository } from './git-host.ts';

const REPORTER = 20;

/** With groups in between, as most projects of GitLab have. */
export async function startGitLabHost(): Promise<GitHost & { readonly gitlab: ScriptedGitLab }> {
  const gitlab = await ScriptedGitLab.start();
  const ada = gitlab.user('ada');
  const bot = gitlab.user('project_1_bot_af31');
  const accountOf = ({ id, username }: GitLabUser): HostAccount => ({ id: String(id), login: username });
  return {
    gitlab,
    ...{
      provider: 'gitlab',
      kind: 'access-token',
      url: gitlab.url,
      owner: accountOf(ada),
      gitUser: 'oauth2',
      draft: 'Draft: ',
      sign: '#',
    },
    ...{
      owners: '.gitlab/CODEOWNERS',
      ownersShown: '.gitlab',
      template: '.gitlab/merge_request_templates/Default.md',
      ciFile: '.gitlab-ci.yml',
      ci: '.gitlab-ci.yml',
    },
    writesCi: 'echo "x: {script: true}" > .gitlab-ci.yml',
    noreply: ({ id, login }) => `${id}-${login}@users.noreply.127.0.0.1`,
    // As a project access token: of a user of its own.
    token: async () => gitlab.token(bot, 'api'),
    account: async (login) => accountOf(gitlab.user(login)),
    repository: async ({ name, files, webhook: { url, secret }, private: isPrivate }) => {
      const project = await gitlab.project({
        path: `ada/group/${name}`,
        owner: ada,
        files,
        visibility: isPrivate ? 'private' : 'public',
      });
      project.members.set(bot.id, 40);
      const events = { issues_events: true, note_events: true, merge_requests_events: true, pipeline_events: true };
      project.hooks.push({
        id: gitlab.nextId(),
        url,
        token: null,
        signingToken: secret,
        events,
        alertStatus: 'executable',
        failures: 0,
        sent: [],
      });
      return repositoryOf(gitlab, project, ada);
    },
    close: () => gitlab.close(),
  };
}

function repositoryOf(gitlab: ScriptedGitLab, project: GitLabProject, ada: GitLabUser): HostRepository {
  const { repository } = project;
  const merges = (): readonly GitLabThread[] => project.threads.filter(({ kind }) => kind === 'merge_requests');
  const userOf = ({ id }: HostAccount): GitLabUser => gitlab.users.find((each) => String(each.id) === id) as GitLabUser;
  const threadOf = (on: { readonly issue: number } | { readonly pull: number }): GitLabThread => {
    const [kind, iid] = 'issue' in on ? (['issues', on.issue] as const) : (['merge_requests', on.pull] as const);
    return project.threads.find((each) => each.kind === kind && each.iid === iid) as GitLabThread;
  };
  return {
    fullName: project.path,
    createCall: `POST /api/v4/projects/${encodeURIComponent(project.path)}/merge_requests`,
    pullRequests: async () =>
      Promise.all(
        merges().map(async ({ iid, title, description, state, source, target, sha }) => ({
          ...{ number: iid, title, body: description, merged: state === 'merged', branch: source, base: target },
          sha: (await repository.commitOf(`refs/heads/${source}`)) ?? sha ?? '',
        })),
      ),
    files: async (number) => {
      const { source, target } = threadOf({ pull: number });
      return repository.changedFiles(target, source);
    },
    branches: async () => [...(await repository.branches()).keys()],
    commits: (branch) => repository.log(branch),
    commit: (made) => repository.commit({ branch: 'main', ...made }),
    addMember: async (account, right) =>
      void project.members.set(userOf(account).id, right === 'write' ? DEVELOPER : REPORTER),
    setStatus: async (sha, { name, state, description }) =>
      gitlab.status(project, sha, { name, status: state === 'failure' ? 'failed' : state, description }),
    approve: async (number, by) => gitlab.approve(project, threadOf({ pull: number }), userOf(by)),
    requireApprovals: async (count) => {
      project.approvalsRequired = count;
    },
    openIssue: async (title, description) => gitlab.openIssue(project, { title, description, author: ada }).iid,
    comment: async (on, body) => void gitlab.note(project, threadOf(on), { body, author: ada }),
    comments: async (on) => threadOf(on).discussions.flatMap(({ notes }) => notes.map(({ body }) => body)),
  };
}
