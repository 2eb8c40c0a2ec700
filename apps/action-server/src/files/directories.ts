import { mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { fileError } from './disk-space.js';
import { insideWorkspace } from './workspace-path.js';

/** Makes a directory and those above it; one that exists is fine. */
export async function createDirectory(workspace: string, wanted: string): Promise<{ success: true }> {
  const directory = await insideWorkspace(workspace, wanted);
  await mkdir(directory, { recursive: true }).catch((error: unknown) => Promise.reject(fileError(error, wanted)));
  return { success: true };
}

export interface SubdirectoryQuery {
  readonly path: string;
  /** `next_page_id` of the page before. */
  readonly pageId: string | undefined;
  readonly limit: number;
  readonly includeHidden: boolean;
}

/** The directories directly below one, by name. */
export async function searchSubdirectories(
  workspace: string,
  query: SubdirectoryQuery,
): Promise<{ items: { name: string; path: string }[]; next_page_id: string | null }> {
  const directory = await insideWorkspace(workspace, query.path);
  const entries = await readdir(directory, { withFileTypes: true }).catch((error: unknown) =>
    Promise.reject(fileError(error, query.path)),
  );
  const names = entries
    .filter((entry) => entry.isDirectory() && (query.includeHidden || !entry.name.startsWith('.')))
    .map((entry) => entry.name)
    .sort();
  const rest = query.pageId === undefined ? names : names.filter((name) => name > (query.pageId as string));
  const page = rest.slice(0, query.limit);
  return {
    items: page.map((name) => ({ name, path: path.join(directory, name) })),
    next_page_id: rest.length > page.length ? (page.at(-1) ?? null) : null,
  };
}
