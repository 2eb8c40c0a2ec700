import { repositoryFolder } from '../conversation/workspace-path.ts';

/**
 * A file in the address, as `file`: in the conversation's repository from there on, as everywhere else on the page (so
 * that a file of the changes is the same file here); outside of it with a slash before, from the workspace on.
 */
export function addressOfFile(path: string, repository: string | null): string {
  const inside = `${repositoryFolder(repository)}/`;
  return path.startsWith(inside) ? path.slice(inside.length) : `/${path}`;
}

/** The path in the workspace that an address means. */
export function fileOfAddress(address: string, repository: string | null): string {
  return address.startsWith('/') ? address.slice(1) : `${repositoryFolder(repository)}/${address}`;
}
