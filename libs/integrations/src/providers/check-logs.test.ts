import { describe, expect, it } from '@jest/globals';
import type { CodeHost, CommitCheck } from '../calls/code-host.js';
import { type Dispatch, ProviderClient } from '../calls/provider-client.js';
import { gitea } from './gitea/index.js';
import { gitlab } from './gitlab/index.js';

type Answer = string | object | 403 | 404 | 503;

/** A git host, by path; what is not there is 404. */
function host(
  provider: typeof gitea | typeof gitlab,
  answers: Readonly<Record<string, Answer>>,
): { readonly calls: CodeHost; readonly sent: string[] } {
  const sent: string[] = [];
  const dispatch: Dispatch = async (url) => {
    const path = url.replace('https://git.test', '').split('?', 1)[0] as string;
    sent.push(path);
    const answer = answers[path] ?? 404;
    if (typeof answer === 'number') return new Response('{}', { status: answer });
    return new Response(typeof answer === 'string' ? answer : JSON.stringify(answer));
  };
  const client = new ProviderClient({
    baseUrl: 'https://git.test',
    authorization: 'Bearer t',
    dispatch,
    now: () => new Date(0),
  });
  return { calls: provider.codeHost?.calls(client) as CodeHost, sent };
}
const check = (id: string): CommitCheck => ({ id, name: 'tests', state: 'failure', description: '', url: null });
const long = `${'line of a log\n'.repeat(5_000)}AssertionError: 1 !== 2`;

describe('the log of a failed check at GitLab', () => {
  const TRACE = '/projects/acme%2Fshop/jobs/9/trace';

  it('is the end of the trace of its job, without the marks of sections', async () => {
    const mark = 'section_start:1560896352:prepare_script[collapsed=true]\r\u001b[0K';
    const { calls } = host(gitlab, {
      [TRACE]: `${mark}Preparing\nAssertionError: 1 !== 2\nsection_end:1560896353:prepare_script\r\u001b[0K`,
    });
    expect(await calls.checkLog?.('acme/shop', check('status-9'))).toEqual({
      text: 'Preparing\nAssertionError: 1 !== 2',
      cut: false,
    });
    const { calls: more } = host(gitlab, { [TRACE]: long });
    const log = await more.checkLog?.('acme/shop', check('status-9'));
    expect([log?.cut, log?.text.endsWith('AssertionError: 1 !== 2'), (log?.text.length ?? 0) <= 24 * 1024]).toEqual([
      true,
      true,
      true,
    ]);
  });

  it('is none where another system reported it, or the token may not read it; a host that is away is asked again', async () => {
    for (const answer of [403, 404] as const)
      expect(await host(gitlab, { [TRACE]: answer }).calls.checkLog?.('acme/shop', check('status-9'))).toBe(null);
    const { calls, sent } = host(gitlab, {});
    expect([await calls.checkLog?.('acme/shop', check('run-9')), sent]).toEqual([null, []]);
    await expect(host(gitlab, { [TRACE]: 503 }).calls.checkLog?.('acme/shop', check('status-9'))).rejects.toMatchObject(
      { kind: 'unavailable' },
    );
  });
});

describe('the log of a failed check at Gitea', () => {
  const JOB = '/repos/acme/shop/actions/jobs/34';
  const page = (path: string): object => ({ run_id: 12, html_url: `https://git.test/acme/shop/actions/runs/${path}` });
  const status = (target_url: unknown): object => ({
    id: 5,
    context: 'ci / tests (push)',
    description: '',
    status: 'failure',
    target_url,
  });

  it('is that of the job of Gitea Actions that its status names', async () => {
    const { calls } = host(gitea, {
      '/repos/acme/shop/commits/abc/status': {
        statuses: [status('/acme/shop/actions/runs/12/jobs/34'), { ...status('https://ci.test/5'), id: 6 }],
      },
      [JOB]: page('12/jobs/34'),
      [`${JOB}/logs`]:
        '2026-11-24T03:00:00.1234567Z Run node --test\n2026-11-24T03:00:01.1234567Z AssertionError: 1 !== 2\n',
    });
    const [first, second] = await calls.checks('acme/shop', 'abc');
    expect([first?.id, first?.url, second?.id, second?.url]).toEqual([
      'job-12-34',
      null,
      'status-6',
      'https://ci.test/5',
    ]);
    expect(await calls.checkLog?.('acme/shop', first as CommitCheck)).toEqual({
      text: 'Run node --test\nAssertionError: 1 !== 2',
      cut: false,
    });
    expect(await calls.checkLog?.('acme/shop', second as CommitCheck)).toBe(null);
  });

  it('is none where the job is another one, as versions have it that number jobs within a run, and where none is kept', async () => {
    const odd: readonly Readonly<Record<string, Answer>>[] = [
      { [JOB]: page('3/jobs/0') },
      { [JOB]: { ...page('12/jobs/34'), run_id: 13 }, [`${JOB}/logs`]: 'of another run' },
      { [JOB]: page('12/jobs/34') },
      {},
    ];
    for (const answers of odd) {
      const { calls } = host(gitea, answers);
      expect(await calls.checkLog?.('acme/shop', check('job-12-34'))).toBe(null);
    }
    await expect(host(gitea, { [JOB]: 503 }).calls.checkLog?.('acme/shop', check('job-12-34'))).rejects.toMatchObject({
      kind: 'unavailable',
    });
  });
});
