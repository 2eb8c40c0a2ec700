import { describe, expect, it } from '@jest/globals';
import type { FilesLiveRequest, TreeEntry } from '@slipway/contracts/live';
import { t } from '../../messages/testing.ts';
import { FilesSession } from './files-session.ts';
import { rootsOf } from './roots.ts';
import { rowAt, rowCount } from './tree-rows.ts';

const directory = (name: string): TreeEntry => ({ name, kind: 'directory', link: false, ignored: false });

/** A tree whose sandbox has these directories. */
function treeOver(workspace: Readonly<Record<string, readonly string[]>>) {
  Object.assign(globalThis, { window: { localStorage: undefined, sessionStorage: undefined } });
  const session = new FilesSession('c', t);
  session.requests.over((request: FilesLiveRequest) => {
    if (request.type !== 'list') return true;
    const entries = workspace[request.path]?.map(directory);
    const { id, path, offset } = request;
    queueMicrotask(() =>
      session.requests.receive(
        entries === undefined
          ? { type: 'failed', id, code: 'files.not-found', detail: 'There is no such directory.' }
          : { type: 'listed', id, path, offset, generation: 1, total: entries.length, entries },
      ),
    );
    return true;
  });
  session.opened();
  const rows = (): string[] => {
    const tree = session.tree.tree.get();
    return Array.from({ length: rowCount(tree) }, (_, index) => rowAt(t, tree, index)?.path ?? '');
  };
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  return { tree: session.tree, rows, settle };
}

describe('the repositories of a workspace', () => {
  it('are open at first, and stay closed once somebody has closed them', async () => {
    const { tree, rows, settle } = treeOver({ '': ['app', 'notes', 'site'], app: ['src'], site: ['pages'] });
    tree.openRoots(['app', 'site', 'gone']);
    await settle();
    expect(rows()).toEqual(['app', 'app/src', 'notes', 'site', 'site/pages']);
    tree.collapse('app');
    tree.openRoots(['app', 'site']);
    await settle();
    expect(rows()).toEqual(['app', 'notes', 'site', 'site/pages']);
  });

  it('that are parts of another one, or the workspace itself, are not opened apart, and not more than a screen holds', () => {
    expect(rootsOf(['project', '.', 'project', 'project/vendor/lib', 'other', 'group/third'])).toEqual([
      'project',
      'other',
      'group/third',
    ]);
    expect(rootsOf(Array.from({ length: 50 }, (_, index) => `r${index}`))).toHaveLength(8);
  });
});
