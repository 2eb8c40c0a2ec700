import { describe, expect, it } from '@jest/globals';
import { workspacePaths } from './workspace-path.ts';

const root = '/home/my user/.data/sandboxes/workspaces/sb-01/workspace/sample';
const bare = '/data/workspaces/sb-01/workspace/sample';
const { path, command } = workspacePaths('https://git.example/team/sample.git');

describe('a path in the workspace', () => {
  it('is shown from the repository on, wherever the sandbox keeps it', () => {
    expect(path(`${root}/src/sum.js`)).toBe('src/sum.js');
    expect(path('/workspace/sample/README.md')).toBe('README.md');
    expect(path(root)).toBe('./');
    expect(workspacePaths(null).path('/x/workspace/project/NOTE.md')).toBe('NOTE.md');
  });
  it('is shown whole when it is not in the repository', () => {
    for (const other of ['/tmp/x', '/workspace/sample-two/a', '/workspace/samples', 'src/sum.js', ''])
      expect(path(other)).toBe(other || './');
  });
  it('knows the folder of an address with unusual letters', () => {
    expect(workspacePaths('https://git.example/a%20b.git/').path('/workspace/a-b/x')).toBe('x');
    expect(workspacePaths('https://git.example/%').path('/workspace/repository/x')).toBe('x');
  });
});

describe('a command', () => {
  it('does not begin with the step into the repository', () => {
    expect(command(`cd '${root}'; pwd`)).toBe('pwd');
    expect(command(`cd ${bare} && npm test`)).toBe('npm test');
    expect(command('cd /workspace/sample\nls')).toBe('ls');
    expect(command(`cd '${root}'`)).toBe('cd .');
  });
  it('has short paths in quotes and outside of them', () => {
    expect(command(`grep -q x '${root}/a b.md' && cat ${bare}/c.md > out`)).toBe(
      "grep -q x 'a b.md' && cat c.md > out",
    );
    expect(command(`ls ${bare}`)).toBe('ls .');
  });
  it('is as it was when it names nothing of the repository', () => {
    for (const other of ['npm test', 'cd /tmp && ls', 'ls /workspace/sample-two']) expect(command(other)).toBe(other);
  });
});
