import { type FolderAt, type HostTree, ProviderRefusal, type RefusalKind } from '@slipway/integrations';
import type { VerifiedBundle } from './bundle/verify-bundle.js';

/** `null`: it cannot be read as a whole, so it may hold anything. */
type Folder = Pick<HostTree, 'entries' | 'folders'> | null;

/** The hash of a folder, with where it stands in a commit of the git host, if that is known. */
export type ReadFolder = (hash: string, at: FolderAt['at']) => Promise<Folder>;

export function folders(bundle: VerifiedBundle, treeOf: (folder: FolderAt) => Promise<HostTree>): ReadFolder {
  const asked = new Map<string, Promise<Folder>>();
  const found = new Map<string, Folder>();
  return (hash, at) => {
    const own = bundle.folder(hash);
    if (own !== undefined)
      return Promise.resolve({
        entries: new Map(own.map(({ name, hash: of }) => [nameOf(name), of])),
        folders: new Set(own.filter(({ kind }) => kind === 'folder').map(({ name }) => nameOf(name))),
      });
    // The same hash is the same folder, wherever it stands; one that was not found without its place may be found with
    // it.
    const known = found.get(hash);
    if (known !== undefined) return Promise.resolve(known);
    const key = at === null ? hash : `${hash} ${at.commit}:${at.path}`;
    let answer = asked.get(key);
    if (answer === undefined) {
      answer = treeOf({ hash, at }).then(({ whole, entries, folders: inside }) => {
        if (!whole) return null;
        const read = { entries, folders: inside };
        found.set(hash, read);
        return read;
      }, unreadable);
      asked.set(key, answer);
    }
    return answer;
  };
}

/** A host that is away is asked again later; one that will not show a folder has it taken for changed. */
function unreadable(error: unknown): null {
  if (error instanceof ProviderRefusal && SAYS_NO.has(error.kind)) return null;
  throw error;
}
const SAYS_NO: ReadonlySet<RefusalKind> = new Set(['missing', 'invalid', 'conflict', 'unreadable']);

/** Names of a bundle are bytes. */
export const nameOf = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('utf8');
