import { type RequestHead, valuesOf } from '../judge/request-head.js';

/** One request of git's smart HTTP. */
export interface GitRequest {
  /** Path of the repository in normal form, without `.git`. */
  readonly repository: string;
  readonly service: 'git-upload-pack' | 'git-receive-pack';
  /** Whether it asks what there is, or carries a fetch or a push. */
  readonly step: 'advertisement' | 'call';
}

const SERVICE = /^service=(git-upload-pack|git-receive-pack)$/;
const ADVERTISEMENT = /^(\/.+)\/info\/refs$/;
const CALL = /^(\/.+)\/(git-upload-pack|git-receive-pack)$/;

/** @returns `null` for anything but smart HTTP: the dumb protocol, archives, files by their URL. */
export function readGitRequest({ method, target, headers }: RequestHead): GitRequest | null {
  const { path, query } = target;
  const [, asked] = ADVERTISEMENT.exec(path) ?? [];
  if (method === 'GET' && asked !== undefined) {
    const service = SERVICE.exec(query ?? '')?.[1] as GitRequest['service'] | undefined;
    return service === undefined ? null : { repository: plain(asked), service, step: 'advertisement' };
  }
  const [, called, service] = CALL.exec(path) ?? [];
  if (method !== 'POST' || called === undefined || query !== null) return null;
  const types = valuesOf(headers, 'content-type');
  if (types.length !== 1 || types[0] !== `application/x-${service}-request`) return null;
  return { repository: plain(called), service: service as GitRequest['service'], step: 'call' };
}

/** What git asked for that is none of smart HTTP, in words; `null`: it is not git that asks. */
export function wordsOfGit({ target: { path, query } }: Pick<RequestHead, 'target'>): string | null {
  if (/\/info\/lfs(\/|$)/.test(path))
    return 'Git LFS is not passed on: its answers hand out credentials. Clone with GIT_LFS_SKIP_SMUDGE=1.';
  if (/\/git-upload-archive$/.test(path)) return 'git archive --remote is not passed on. Clone the repository.';
  if (/\/(HEAD|objects\/.+|info\/(refs|packs|alternates))$/.test(path) && (query === null || !SERVICE.test(query)))
    return 'The dumb protocol of git is not passed on. Use a git with smart HTTP, which is every current one.';
  return null;
}

const plain = (repository: string): string => repository.replace(/\.git$/, '');
