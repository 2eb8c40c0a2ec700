import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { TurnHunkRequest } from '@slipway/contracts/repositories';
import { commit, inside, json, repository, server, setUpRepository, write } from '../testing/repository-setup.js';

type Change = Pick<TurnHunkRequest, 'file' | 'status' | 'hunk'>;

describe('one hunk of the changes', () => {
  setUpRepository();

  const read = (name: string): string => readFileSync(path.join(repository, name), 'utf8');
  const changes = async (): Promise<string[]> =>
    (await json<Array<{ status: string; path: string }>>('/git/changes?path=repository&base=HEAD')).map(
      (each) => `${each.status} ${each.path}`,
    );
  const hunksOf = async (file: string, status: Change['status'] = 'UPDATED'): Promise<Change[]> => {
    const patch = await (await server.send('GET', `/git/patch?path=repository&base=HEAD&file=${file}`)).text();
    return patch
      .split(/^(?=@@ )/m)
      .slice(1)
      .map((hunk) => ({ file, status, hunk }));
  };
  const turn = async (change: Change | undefined, direction: TurnHunkRequest['direction'] = 'revert') => {
    const body = { path: 'repository', direction, ...change };
    const answer = await server.send('POST', '/git/turn_hunk', JSON.stringify(body));
    return [answer.status, ((await answer.json()) as { code?: string }).code ?? null];
  };
  const numbers = (from: number, to: number): string =>
    Array.from({ length: to - from + 1 }, (_, index) => `${from + index}\n`).join('');

  it('is taken back and put back alone, and git knows nothing of it', async () => {
    write('n.txt', numbers(1, 40));
    commit('numbers');
    const after = `zero\n${numbers(1, 20)}${numbers(22, 40)}end`;
    write('n.txt', after);
    const before = inside();
    const [first, second] = await hunksOf('n.txt');
    expect(await turn(second)).toEqual([200, null]);
    expect(read('n.txt')).toBe(`zero\n${numbers(1, 20)}${numbers(21, 40)}end`);
    expect(await turn(second)).toEqual([409, 'changes.moved']);
    expect(await turn(second, 'restore')).toEqual([200, null]);
    expect(read('n.txt')).toBe(after);
    expect(await turn(first)).toEqual([200, null]);
    // The line above is gone: what the other hunk says of places is not true any more.
    expect(await turn(second)).toEqual([409, 'changes.moved']);
    for (let [hunk] = await hunksOf('n.txt'); hunk !== undefined; [hunk] = await hunksOf('n.txt'))
      expect(await turn(hunk)).toEqual([200, null]);
    expect([read('n.txt'), await changes(), inside()]).toEqual([numbers(1, 40), [], before]);
  });

  it('of a file that was added deletes it, and of one that was deleted writes it again', async () => {
    write('new.txt', 'new\n');
    const [added] = await hunksOf('new.txt', 'ADDED');
    expect(await turn(added)).toEqual([200, null]);
    expect(existsSync(path.join(repository, 'new.txt'))).toBe(false);
    expect(await turn(added, 'restore')).toEqual([200, null]);
    expect(read('new.txt')).toBe('new\n');
    write('new.txt', 'another\n');
    expect(await turn(added)).toEqual([409, 'changes.moved']);
    const text = read('b/c.txt');
    await server.send('POST', '/bash/execute', JSON.stringify({ command: `rm -r ${repository}/b`, timeout: 10 }));
    const [deleted] = await hunksOf('b/c.txt', 'DELETED');
    expect(await turn(deleted)).toEqual([200, null]);
    expect(read('b/c.txt')).toBe(text);
  });

  it('never reaches through a link, into .git or out of the repository', async () => {
    const hunk = '@@ -1 +1 @@\n-secret\n+one\n';
    writeFileSync(path.join(server.workspace, 'outside.txt'), 'one\n');
    symlinkSync('../outside.txt', path.join(repository, 'link.txt'));
    expect(await turn({ file: 'link.txt', status: 'UPDATED', hunk })).toEqual([409, 'changes.moved']);
    for (const file of ['../outside.txt', '.git/HEAD', 'b/../../outside.txt'])
      expect(await turn({ file, status: 'UPDATED', hunk })).toEqual([400, 'request.invalid']);
    expect(readFileSync(path.join(server.workspace, 'outside.txt'), 'utf8')).toBe('one\n');
  });
});
