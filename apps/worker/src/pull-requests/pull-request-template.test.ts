import { describe, expect, it } from '@jest/globals';
import { type CodeHost, type HostTree, ProviderRefusal, type RefusalKind } from '@slipway/integrations';
import { type CommandRun, commandsRun } from './checks-run.js';
import { readTemplate, withTemplate } from './pull-request-template.js';
import { bodyOf } from './texts.js';

const parts = { said: 'The total counts returns.', checked: '- `npm test`: exit code 0', fixes: 'Fixes #7' };

describe('the template of a repository', () => {
  it('has each part below the heading that asks for it, and keeps its other sections and lists', () => {
    const template = [
      '<!-- Thank you! -->',
      '# Summary\r\n<!-- what and why -->\r\n',
      '## How was this tested?',
      '## Related issue',
      '## Checklist',
      '- [ ] I have read CONTRIBUTING.md',
      '```\n# no heading\n```',
    ].join('\n');
    expect(withTemplate(template, parts)).toBe(
      [
        '# Summary\n\nThe total counts returns.',
        '## How was this tested?\n\n- `npm test`: exit code 0',
        '## Related issue\n\nFixes #7',
        '## Checklist\n\n- [ ] I have read CONTRIBUTING.md\n```\n# no heading\n```',
      ].join('\n\n'),
    );
  });

  it('that asks for none of them, or is not there, has what was said first and how it was checked after it', () => {
    const rest = '## How it was checked\n\n- `npm test`: exit code 0\n\nFixes #7';
    expect(withTemplate('## Notizen\n\nBitte ausfüllen', parts)).toBe(
      `The total counts returns.\n\n## Notizen\n\nBitte ausfüllen\n\n${rest}`,
    );
    expect(withTemplate(null, parts)).toBe(`The total counts returns.\n\n${rest}`);
    expect(withTemplate(null, { said: 'x', checked: '', fixes: '' })).toBe('x');
  });

  it('adversary: mentions no user, carries out no command of the host, and is as long as it may be', () => {
    const template =
      '## What\n/approve\n/label ~urgent\n@acme/owners ![x](https://evil.test/?a) <img src="https://evil.test">\nCloses #12';
    const body = withTemplate(template, parts);
    expect(body).not.toMatch(/^\s*\/[a-z]|@acme|!\[|<img|#12/m);
    expect(withTemplate(`## What\n${'x'.repeat(100_000)}`, parts).length).toBeLessThan(11_000);
  });

  it('is read in the commit that is merged into, in upper and lower case, the first of its places; what cannot be read is none', async () => {
    const trees: Record<string, { entries: Record<string, string>; folders: string[] }> = {
      base: {
        entries: { '.GitHub': 'g', docs: 'd', 'pull_request_template.md': 'root' },
        folders: ['.GitHub', 'docs'],
      },
      g: { entries: { 'PULL_REQUEST_TEMPLATE.md': 'own', 'pull_request_template.txt': 'other' }, folders: [] },
    };
    const asked: string[] = [];
    const refused = (kind: RefusalKind) =>
      new ProviderRefusal(kind, { kind, status: null, retryAt: null, outcomeUnknown: false });
    const calls = (refusal: RefusalKind | null = null): CodeHost =>
      ({
        tree: async (_repository: string, { hash, at }: { hash: string; at: { path: string } }): Promise<HostTree> => {
          asked.push(`${hash} ${at.path}`);
          const found = trees[hash];
          if (refusal !== null || found === undefined) throw refused(refusal ?? 'missing');
          return { whole: true, entries: new Map(Object.entries(found.entries)), folders: new Set(found.folders) };
        },
        blob: async (_repository: string, hash: string) => `text of ${hash}`,
      }) as unknown as CodeHost;
    const paths = ['.github/pull_request_template.md', 'pull_request_template.md'];
    expect(await readTemplate(calls(), 'acme/shop', 'base', paths)).toBe('text of own');
    expect(asked).toEqual(['base ', 'g .GitHub']);
    expect(await readTemplate(calls(), 'acme/shop', 'base', paths.slice(1))).toBe('text of root');
    expect(await readTemplate(calls(), 'acme/shop', 'base', ['docs', 'docs/pull_request_template.md'])).toBe(null);
    expect(await readTemplate(calls('forbidden'), 'acme/shop', 'base', paths)).toBe(null);
    await expect(readTemplate(calls('unavailable'), 'acme/shop', 'base', paths)).rejects.toMatchObject({
      kind: 'unavailable',
    });
  });
});

describe('how a pull request was checked', () => {
  const run = (command: string, exitCode: number | null = 0): CommandRun => ({ command, exitCode });

  it('is what the log has: each command that did more than read, with the exit code that it had last', () => {
    const commands = [
      run('ls -la && cat package.json | head'),
      run('npm test', 1),
      run("cat > total.js <<'EOF'\nexport const total = 1;\nEOF"),
      run('cd /workspace && npm run lint 2>&1 | tail -20'),
      run('npm test', 0),
      run('npm start', null),
      run('git diff && git status'),
    ];
    expect(commandsRun(commands, [])).toBe(
      [
        'Commands that the agent ran in its last turn:',
        '',
        '- `cd /workspace && npm run lint 2>&1 | tail -20`: exit code 0',
        '- `npm test`: exit code 0',
        '- `npm start`: was not over',
      ].join('\n'),
    );
    expect(commandsRun(commands.slice(0, 1), [])).toBe('');
  });

  it('is bounded, and says how much is left out', () => {
    const shown = commandsRun(
      Array.from({ length: 50 }, (_, index) => run(`make target-${index} ${'x'.repeat(5_000)}`)),
      [],
    );
    expect(shown).toContain('without the 38 before them');
    expect(shown).toContain('target-49');
    expect(shown.length).toBeLessThan(3_000);
  });

  it('adversary: a command that mentions people, closes issues, breaks out of its code or holds a credential does none of it', () => {
    const hostile = [
      run('npm test `# @acme/owners` \n/approve\n\nFixes #12'),
      run('echo x; node "<!-- slipway:c --> <img src=https://evil.test>"'),
      run('curl -H "Authorization: Bearer tok-of-git" https://host.test'),
    ];
    const shown = commandsRun(hostile, ['tok-of-git']);
    expect(shown).not.toMatch(/@acme|#12|<!--|<img|^\s*\/|tok-of-git/m);
    expect(
      shown.split('\n').filter((line) => line !== '' && !line.startsWith('- `') && !line.startsWith('Commands')),
    ).toEqual([]);
    const body = bodyOf({
      given: undefined,
      said: 'Done.',
      template: null,
      checked: shown,
      issue: null,
      page: null,
      conversationId: 'c',
    });
    expect(body.match(/<!--/g)).toHaveLength(1);
  });
});
