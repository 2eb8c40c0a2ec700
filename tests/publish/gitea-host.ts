import { type Gitea, type GiteaRepository, type GiteaUser, startGitea } from '@slipway/testing/gitea';
import type { GitHost, HostAccount, HostRepository } from './git-host.ts';

interface Commit {
  readonly commit: { readonly message: string; readonly author: { readonly name: string; readonly email: string } };
}

export async function startGiteaHost(): Promise<GitHost> {
  const gitea = await startGitea({ say: console.log });
  const ada = await gitea.admin.createUser('ada');
  const people = new Map([['ada', ada]]);
  const accountOf = async (user: GiteaUser): Promise<HostAccount> => {
    const { id, login } = await user.self();
    return { id: String(id), login };
  };
  return {
    ...{
      provider: 'gitea',
      kind: 'token',
      url: gitea.url,
      owner: await accountOf(ada),
      gitUser: 'slipway',
      draft: 'WIP: ',
      sign: '#',
    },
    ...{
      owners: '.gitea/CODEOWNERS',
      ownersShown: '.gitea/CODEOWNERS',
      template: '.gitea/PULL_REQUEST_TEMPLATE.md',
      ciFile: '.gitea/workflows/x.yml',
      ci: '.gitea/workflows',
    },
    writesCi: 'mkdir -p .gitea/workflows && echo "on: push" > .gitea/workflows/x.yml',
    noreply: ({ login }) => `${login}@noreply.127.0.0.1`,
    token: () => ada.createToken('slipway', ['write:repository', 'write:issue']),
    account: async (login) => {
      const user = await gitea.admin.createUser(login);
      people.set(login, user);
      return accountOf(user);
    },
    repository: async ({ webhook, ...made }) => {
      const repo = await ada.createRepository(made);
      await repo.createWebhook(webhook);
      return repositoryOf(repo, people);
    },
    close: () => (gitea as Gitea).close(),
  };
}

function repositoryOf(repo: GiteaRepository, people: ReadonlyMap<string, GiteaUser>): HostRepository {
  const numberOf = (on: { readonly issue: number } | { readonly pull: number }): number =>
    'issue' in on ? on.issue : on.pull;
  return {
    fullName: `ada/${repo.name}`,
    createCall: `POST /api/v1/repos/ada/${repo.name}/pulls`,
    pullRequests: async () => {
      const pulls = (await repo.pullRequests('all')) as ReadonlyArray<
        Awaited<ReturnType<GiteaRepository['pullRequest']>> & { readonly body: string }
      >;
      return pulls.map(({ number, title, body, merged, head, base }) => ({
        number,
        title,
        body,
        merged,
        branch: head.ref,
        sha: head.sha,
        base: base.ref,
      }));
    },
    files: async (number) =>
      (await repo.call<{ filename: string }[]>('GET', `/pulls/${number}/files`)).map(({ filename }) => filename),
    branches: async () => (await repo.call<{ name: string }[]>('GET', '/branches')).map(({ name }) => name),
    commits: async (branch) =>
      (await repo.call<Commit[]>('GET', `/commits?sha=${branch}&limit=20&stat=false`)).map(
        ({ commit: { message, author } }) => ({
          message: message.trim(),
          authorName: author.name,
          authorEmail: author.email,
        }),
      ),
    commit: (made) => repo.commit(made),
    addMember: ({ login }, right) => repo.addCollaborator(login, right),
    setStatus: async (sha, { name, state, description }) =>
      void (await repo.setStatus(sha, { context: name, state, description })),
    approve: async (number, { login }) =>
      void (await people
        .get(login)
        ?.repository('ada', repo.name)
        .review(number, { verdict: 'APPROVED', body: 'Fine.' })),
    requireApprovals: async (count) =>
      void (count === 0
        ? await repo.call('DELETE', '/branch_protections/main')
        : await repo.protectBranch('main', { required_approvals: count })),
    openIssue: async (title, body) => (await repo.createIssue(title, body)).number,
    comment: async (on, body) => void (await repo.comment(numberOf(on), body)),
    comments: async (on) =>
      (await repo.call<{ body: string }[]>('GET', `/issues/${numberOf(on)}/comments`)).map(({ body }) => body),
  };
}
