import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import type { PullRequest, PullRequestChecks } from '@slipway/contracts/repositories';
import type { Outcomes } from '@slipway/contracts/spending';
import { until } from '@slipway/testing';
import { describeUnless } from '@slipway/testing/jest';
import { finish, type Harness, terminal } from '../stack/script-book.ts';
import type { GitHost } from './git-host.ts';
import {
  ada,
  front,
  git,
  goOn,
  host,
  link,
  nextHarness,
  open,
  path,
  post,
  publish,
  repository,
  seen,
  setUpPublishing,
  token,
  unlink,
  WAIT_MS,
  work,
} from './publish-setup.ts';

/** What a git host must keep, whichever it is. @param unavailable why it is unavailable here. */
export function publishContract(name: string, startHost: () => Promise<GitHost>, missing: string | null = null): void {
  describeUnless(missing)(`what an agent made, published on ${name}`, () => {
    setUpPublishing(name, startHost, missing);

    it('opens one pull request of its commits and of what is not committed, and updates it after more work', async () => {
      const repo = await repository('one', false, {
        [git.template]: '<!-- Thank you -->\n## What\n\n## Tests\n\n- [ ] Read the rules\n',
      });
      const talk = await work(repo, [
        terminal('echo "export const total = 2;" > total.js && git commit -qam "Count to two"'),
        terminal('echo new > new.txt && test -s new.txt'),
        finish('The total is right. @ada should see ![it](https://evil.example/x.png) <!-- hidden -->'),
      ]);
      const first = await publish(talk);
      expect(first).toMatchObject({
        publish: 'done',
        problem: null,
        state: 'open',
        draft: true,
        base: 'main',
        branch: expect.stringMatching(/^slipway\/[0-9a-f]{8}-mend-the-total$/),
      });
      const [pull, ...more] = await repo.pullRequests();
      expect(more).toEqual([]);
      const title = `${git.draft}Mend the total`;
      expect(pull).toMatchObject({
        number: first.number,
        branch: first.branch,
        sha: first.headSha,
        base: 'main',
        title,
      });
      const body = pull?.body ?? '';
      expect(body).toContain(`${open.url}/${open.orgId}/conversations/${talk.id}`);
      expect(body).toContain(`<!-- slipway:${talk.id} -->`);
      // In the sections of the repository, by what the log has.
      expect(body).toMatch(
        /^## What\n\nThe total is right\.[\s\S]*## Tests\n\nCommands [\s\S]*test -s new\.txt`: exit code 0[\s\S]*- \[ \] Read the rules/,
      );
      expect(body).not.toMatch(/@ada|!\[|hidden/);
      const [last, before, base] = await repo.commits(first.branch ?? '');
      expect(last).toMatchObject({ authorName: open.user.me.name, authorEmail: git.noreply(ada) });
      expect(last?.message).toContain('Co-authored-by: Slipway <agent@slipway.invalid>');
      expect([before?.message, base?.message]).toEqual(['Count to two', 'Begin']);
      expect([...(await repo.files(first.number ?? 0))].sort()).toEqual(['new.txt', 'total.js']);

      // Nothing new: neither pushed nor opened again.
      const again = await publish(talk);
      expect([again.number, again.headSha]).toEqual([first.number, first.headSha]);

      await goOn(talk, [
        terminal('echo "export const total = 3;" > total.js && git add -A && git commit -qm "Count to three"'),
        finish(),
      ]);
      const second = await publish(talk, { title: 'Mend the total for good' });
      expect([second.number, second.headSha === first.headSha, second.title]).toEqual([
        first.number,
        false,
        expect.stringContaining('Mend the total for good'),
      ]);
      expect((await repo.pullRequests()).length).toBe(1);
      expect((await repo.commits(first.branch ?? '')).map(({ message }) => message)).toEqual([
        'Count to three',
        'Count to two',
        'Begin',
      ]);
      await until('the log of the conversation says so', () =>
        talk
          .of('ConversationStateUpdateEvent')
          .some(({ key, value }) => key === 'pull_request' && (value as PullRequest).headSha === second.headSha),
      );
    });

    it('follows checks and reviews that the host delivers, and merges only at the head that the user saw, when the host lets it', async () => {
      const repo = await repository('two');
      const talk = await work(repo, [terminal('echo more >> total.js'), finish()]);
      const published = await publish(talk, { draft: false });
      const { number, headSha } = published;
      await repo.setStatus(headSha ?? '', { name: 'tests', state: 'failure', description: '1 of 2 failed' });
      await seen('the failure is seen', talk, ({ checks }) => checks.state === 'failure');
      const checks = (await (
        await open.user.fetch(`/api/v1/orgs/${open.orgId}${path(talk, `/${number}/checks`)}`)
      ).json()) as PullRequestChecks;
      expect(checks).toMatchObject({
        headSha,
        data: [{ name: 'tests', state: 'failure', description: '1 of 2 failed' }],
      });
      await repo.setStatus(headSha ?? '', { name: 'tests', state: 'success', description: '' });
      await seen('the success is seen', talk, ({ checks }) => checks.state === 'success');
      const eve = await git.account('eve');
      await repo.addMember(eve, 'write');
      await repo.approve(number ?? 0, eve);
      await seen('the approval is seen', talk, ({ review }) => review === 'approved');

      const merge = (sha: string | null): Promise<Response> => post(path(talk, `/${number}/merge`), { headSha: sha });
      const codeOf = async (answer: Response): Promise<unknown> => ((await answer.json()) as { code?: unknown }).code;
      expect(await codeOf(await merge('a'.repeat(40)))).toBe('pull-request.moved');
      const account = (await (await post('/service-accounts', { name: 'Robot', role: 'member' })).json()) as {
        id: string;
      };
      const key = (await (
        await post('/api-keys', {
          name: 'k',
          scopes: ['conversation:read', 'pull-request:merge'],
          serviceAccountId: account.id,
        })
      ).json()) as {
        token: string;
      };
      const byKey = await fetch(`${open.url}/api/v1/orgs/${open.orgId}${path(talk, `/${number}/merge`)}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ headSha }),
      });
      expect([byKey.status, await codeOf(byKey)]).toEqual([403, 'pull-request.needs-person']);

      await repo.requireApprovals(5);
      expect((await merge(headSha)).status).toBe(202);
      const refused = await seen('the host refuses', talk, (now) => now.merge === 'refused');
      expect(refused.problem).toMatchObject({
        code: 'pull-request.host-refused',
        detail: expect.stringMatching(/\w+ \w+/),
      });
      expect((await repo.pullRequests())[0]?.merged).toBe(false);
      await repo.requireApprovals(0);
      expect((await merge(headSha)).status).toBe(202);
      await seen('it is merged', talk, ({ state }) => state === 'merged');
      expect((await repo.pullRequests())[0]?.merged).toBe(true);
      const outcomes = await until(
        'the outcome is known: merged, by the agent alone, and its 14 days are not over',
        async () => {
          const answer = await open.user.fetch(
            `/api/v1/orgs/${open.orgId}/outcomes?groupBy=repository&repository=${host}/${repo.fullName}`,
          );
          const { total } = (await answer.json()) as Outcomes;
          if (total.humanCommits.none === 1) return total;
          throw new Error(JSON.stringify(total));
        },
        WAIT_MS,
      );
      expect(outcomes).toMatchObject({
        conversations: 1,
        pullRequests: { published: 1, merged: 1, mergedShare: 1 },
        reverted: { settled: 0, pending: 1, share: null },
      });
      expect(outcomes.waits.review.count).toBe(1);
      expect(await codeOf(await post(path(talk), {}))).toBe('pull-request.ended');
    });

    it('adversary: a user who may only read at the git host publishes nothing', async () => {
      const repo = await repository('three');
      const rob = await git.account('rob');
      await repo.addMember(rob, 'read');
      const talk = await work(repo, [terminal('echo more >> total.js'), finish()]);
      await link(rob);
      try {
        expect(await publish(talk)).toMatchObject({
          publish: 'failed',
          problem: { code: 'pull-request.no-write-access' },
          number: null,
        });
        await unlink();
        expect(await publish(talk)).toMatchObject({ publish: 'failed', problem: { code: 'pull-request.not-linked' } });
      } finally {
        await link(ada);
      }
      expect((await repo.branches()).length).toBe(1);
      expect(await publish(talk)).toMatchObject({ publish: 'done', problem: null });
    });

    it('adversary: an agent that changes CI or owners has nothing pushed until a user has reviewed it', async () => {
      const repo = await repository('four');
      const talk = await work(repo, [
        terminal(`${git.writesCi} && mkdir lib && echo x > lib/AGENTS.md && git add -A && git commit -qm ci`),
        terminal(`git rm -q ${git.owners} && git commit -qm owners`),
        finish(),
      ]);
      expect(await publish(talk)).toMatchObject({
        publish: 'failed',
        problem: {
          code: 'pull-request.protected-paths',
          detail: `The changes touch ${git.ci}, ${git.ownersShown}, lib/AGENTS.md.`,
        },
      });
      expect((await repo.branches()).length).toBe(1);
      expect(await publish(talk, { allowProtectedPaths: true })).toMatchObject({
        publish: 'done',
        number: expect.any(Number),
      });
    });

    it('adversary: changes of CI are published as they were when they were allowed, and an agent that changes them since is asked about again', async () => {
      const repo = await repository('allowed');
      const talk = await work(repo, [terminal(`${git.writesCi} && git add -A && git commit -qm CI`), finish()]);
      const { problem: seen } = await publish(talk);
      expect(seen).toMatchObject({
        code: 'pull-request.protected-paths',
        protectedChanges: expect.stringMatching(/^[0-9a-f]{64}$/),
      });
      const allowed = { allowProtectedPaths: true, protectedChanges: seen?.protectedChanges ?? '' };
      await goOn(talk, [terminal(`echo "on: [push, schedule]" > ${git.ciFile}`), finish()]);
      const { problem: changed } = await publish(talk, allowed);
      expect(changed).toMatchObject({
        code: 'pull-request.protected-paths',
        detail: expect.stringContaining('has changed them since they were allowed'),
      });
      expect([changed?.protectedChanges === seen?.protectedChanges, (await repo.branches()).length]).toEqual([
        false,
        1,
      ]);
      await goOn(talk, [terminal('echo more >> total.js'), finish()]);
      expect(await publish(talk, { ...allowed, protectedChanges: changed?.protectedChanges ?? '' })).toMatchObject({
        publish: 'done',
        problem: null,
      });
    });

    it('adversary: a sandbox that names a base commit which has its change of CI already gets nothing pushed', async () => {
      const repo = await repository('claimed');
      const hidden = await repo.commit({
        message: 'Never merged',
        files: { [git.ciFile]: 'on: push\n' },
        newBranch: 'outside',
      });
      const talk = await work(repo, [
        terminal('git fetch -q origin outside && git reset -q --hard FETCH_HEAD && echo more >> total.js'),
        finish(),
      ]);
      await open.query('UPDATE app.conversation SET base_commit = $2 WHERE id = $1', [talk.id, hidden]);
      expect(await publish(talk)).toMatchObject({
        publish: 'failed',
        problem: { code: 'pull-request.protected-paths', detail: `The changes touch ${git.ci}.` },
      });
      expect((await repo.branches()).length).toBe(2);
    });

    it('adversary: what the base branch has changed since is no change of the agent, until its branch takes it back', async () => {
      const repo = await repository('moved-on');
      const talk = await work(repo, [terminal('echo more >> total.js && git commit -qam More'), finish()]);
      await repo.commit({ message: 'Owners', files: { [git.owners]: 'somebody\n' }, branch: 'main' });
      expect(await publish(talk)).toMatchObject({ publish: 'done', problem: null });
      await goOn(talk, [
        terminal(
          'git fetch -q origin && git merge -q --no-edit origin/main && echo most >> total.js && git commit -qam Most',
        ),
        finish(),
      ]);
      expect(await publish(talk)).toMatchObject({ publish: 'done', problem: null });
      await goOn(talk, [terminal(`git checkout -q HEAD~2 -- ${git.owners}`), finish()]);
      expect(await publish(talk)).toMatchObject({
        publish: 'failed',
        problem: { code: 'pull-request.protected-paths', detail: `The changes touch ${git.ownersShown}.` },
      });
    });

    it('does not replace another user’s push to the branch, and goes on once the agent has built on it', async () => {
      const repo = await repository('five');
      const talk = await work(repo, [terminal('echo more >> total.js'), finish()]);
      const { branch } = await publish(talk);
      await repo.commit({ message: 'From a person', files: { 'person.txt': 'x\n' }, branch: branch ?? '' });
      await goOn(talk, [terminal('echo yet more >> total.js'), finish()]);
      expect(await publish(talk)).toMatchObject({ publish: 'failed', problem: { code: 'pull-request.branch-moved' } });
      await goOn(talk, [
        terminal(
          `git stash -q && git fetch -q origin && git merge -q --no-edit origin/${branch} && git checkout -q stash@{0} -- total.js`,
        ),
        finish(),
      ]);
      expect(await publish(talk)).toMatchObject({ publish: 'done', problem: null });
      expect((await repo.commits(branch ?? '')).map(({ message }) => message)).toContain('From a person');
    });

    it('publishes by itself what an issue asked for, shows it in the thread, and again after the next comment there', async () => {
      // No user clones it but by the connection.
      const repo = await repository('seven', true);
      const asked = (harness: Harness): string => `${open.book.write(nextHarness(), harness)} @slipway`;
      const number = await repo.openIssue('Total is wrong', 'It is one.');
      await repo.comment(
        { issue: number },
        asked([terminal('echo "export const total = 4;" > total.js'), finish('It is four.')]),
      );
      const [pull] = await until(
        'a pull request is opened',
        async () => {
          const all = await repo.pullRequests();
          return all.length > 0 ? all : undefined;
        },
        WAIT_MS,
      );
      expect(pull?.body).toMatch(/It is four\.[\s\S]*Fixes #1/);
      const shown = new RegExp(`Pull request ${git.sign}\\W?${pull?.number}\\b`);
      await until(
        'the thread shows it',
        async () => shown.test(JSON.stringify(await repo.comments({ issue: number }))),
        WAIT_MS,
      );
      const head = async (): Promise<string | undefined> => (await repo.pullRequests())[0]?.sha;
      const moved = (from: string | undefined): Promise<unknown> =>
        until('it has what is new', async () => (await head()) !== from, WAIT_MS);
      await repo.comment(
        { issue: number },
        asked([terminal('echo "export const total = 5;" > total.js'), finish('It is five.')]),
      );
      await moved(pull?.sha);
      expect((await repo.pullRequests()).length).toBe(1);
      // What is said at the pull request goes to the same conversation.
      const sha = await head();
      await repo.comment(
        { pull: pull?.number ?? 0 },
        asked([terminal('echo "export const total = 6;" > total.js'), finish('It is six.')]),
      );
      await moved(sha);
      expect(
        (await open.query('SELECT 1 FROM app.conversation WHERE repository = $1', [`${front.url}/${repo.fullName}`]))
          .length,
      ).toBe(1);
      // What only answers a question opens nothing.
      const question = await repo.openIssue('Why?', '');
      await repo.comment({ issue: question }, asked([finish('Because.')]));
      await until(
        'it is answered',
        async () => JSON.stringify(await repo.comments({ issue: question })).includes('Because.'),
        WAIT_MS,
      );
      expect((await repo.pullRequests()).length).toBe(1);
    });

    it('opens one pull request when the worker is killed between push and create, and between create and its answer', async () => {
      for (const moment of ['before', 'after'] as const) {
        const repo = await repository(`killed-${moment}`);
        const talk = await work(repo, [terminal('echo more >> total.js'), finish()]);
        let killed = 0;
        front[moment] = (call) => {
          if (killed > 0 || call !== repo.createCall) return;
          killed = open.stack.pidOf('worker');
          process.kill(killed, 'SIGKILL');
        };
        const published = await publish(talk);
        expect([killed > 0, published.publish, published.problem]).toEqual([true, 'done', null]);
        const pulls = await repo.pullRequests();
        expect(pulls.map(({ number, sha }) => [number, sha])).toEqual([[published.number, published.headSha]]);
      }
    });

    it('adversary: a reader of every process and the log sees the access token nowhere', async () => {
      const repo = await repository('six');
      const talk = await work(repo, [terminal('echo more >> total.js'), finish()]);
      const basic = Buffer.from(`${git.gitUser}:${token}`).toString('base64');
      const seen: string[] = [];
      let looks = 0;
      front.before = () => {
        looks += 1;
        for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name) && name !== String(process.pid)))
          for (const file of ['cmdline', 'environ'])
            try {
              const text = readFileSync(`/proc/${pid}/${file}`, 'latin1');
              if (text.includes(token) || text.includes(basic)) seen.push(`${pid} ${file}`);
            } catch {}
      };
      expect(await publish(talk)).toMatchObject({ publish: 'done' });
      expect([looks > 3, seen]).toEqual([true, []]);
      for (const service of ['worker', 'app-server']) {
        const log = readFileSync(`${open.stack.dataDirectory}/logs/${service}.log`, 'utf8');
        expect([service, log.includes(token), log.includes(basic)]).toEqual([service, false, false]);
      }
      expect(JSON.stringify(talk.events)).not.toContain(token);
      const [kept] = await open.query<{ row: string }>(
        'SELECT p::text AS row FROM app.pull_request p WHERE conversation_id = $1',
        [talk.id],
      );
      expect(kept?.row).not.toContain(token);
    });
  });
}
