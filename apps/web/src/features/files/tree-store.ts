import { Slice } from '../conversation/conversation-store.ts';
import type { LiveRequests } from './live-requests.ts';
import { nameOfPath, PAGE, parentPath, type Tree, type TreeDirectory } from './tree-rows.ts';

/** A directory that changes while its pages are read is read again this often before what came is shown. */
const MAX_TRIES = 5;

/**
 * The open directories, read page by page as they come into sight, and again when the sandbox says that they are
 * others. What is shown stays until all that replaces it is here.
 */
export class TreeStore {
  readonly tree = new Slice<Tree>({ directories: new Map(), expanded: new Set(['']), problems: new Map() });
  private shown = new Map<string, Set<number>>();
  private readonly reading = new Map<string, 'once' | 'again'>();
  /** What is here of them may be old. */
  private readonly stale = new Set<string>();

  /** What was opened unasked. */
  private readonly roots = new Set<string>();

  private readonly requests: LiveRequests;

  constructor(requests: LiveRequests) {
    this.requests = requests;
  }

  /** The connection stands: nothing is watched yet, and all that is here may be old. */
  opened(): void {
    this.reading.clear();
    for (const path of this.tree.get().expanded) {
      this.stale.add(path);
      void this.read(path);
    }
  }

  expand(path: string): void {
    const { expanded, ...rest } = this.tree.get();
    if (expanded.has(path)) return;
    this.tree.set({ ...rest, expanded: new Set([...expanded, path]) });
    void this.read(path);
  }

  /** Opens these, each once: what somebody has closed since stays closed. */
  openRoots(paths: readonly string[]): void {
    for (const path of paths) {
      if (this.roots.has(path)) continue;
      this.roots.add(path);
      this.reveal(path);
      this.expand(path);
    }
  }

  /** With all that is open below. */
  collapse(path: string): void {
    const { directories, expanded, problems } = this.tree.get();
    const gone = [...expanded].filter((one) => one !== '' && (one === path || one.startsWith(`${path}/`)));
    for (const one of gone) this.requests.letGo(one, 'directory');
    const without = <T>(map: ReadonlyMap<string, T>): Map<string, T> =>
      new Map([...map].filter(([key]) => !gone.includes(key)));
    this.tree.set({
      directories: without(directories),
      expanded: new Set([...expanded].filter((one) => !gone.includes(one))),
      problems: without(problems),
    });
  }

  /** Opens every directory that leads to a path. */
  reveal(path: string): void {
    for (let above = parentPath(path); above !== ''; above = parentPath(above)) this.expand(above);
  }

  /** These pages are in sight; what of them is not here is read. */
  show(pages: readonly { readonly directory: string; readonly page: number }[]): void {
    this.shown = new Map();
    for (const { directory, page } of pages)
      this.shown.set(directory, (this.shown.get(directory) ?? new Set()).add(page));
    const { directories } = this.tree.get();
    for (const [path, wanted] of this.shown) {
      const known = directories.get(path);
      if (known !== undefined && [...wanted].some((page) => !known.pages.has(page))) void this.read(path);
    }
  }

  changed(path: string, generation: number): void {
    const known = this.tree.get().directories.get(path);
    if (!this.tree.get().expanded.has(path) || known?.generation === generation) return;
    this.stale.add(path);
    void this.read(path);
  }

  private async read(path: string): Promise<void> {
    if (this.reading.has(path)) {
      this.reading.set(path, 'again');
      return;
    }
    this.reading.set(path, 'once');
    const outcome = await this.pagesOf(path).catch((error: unknown) => error as Error & { lost?: boolean });
    const again = this.reading.get(path) === 'again';
    this.reading.delete(path);
    if (!this.tree.get().expanded.has(path)) return;
    if (!(outcome instanceof Error)) this.put(path, outcome);
    // What was cut off is read again when the connection is back.
    else if (outcome.lost !== true) this.fail(path, outcome.message);
    if (again && !(outcome instanceof Error && outcome.lost === true)) await this.read(path);
  }

  /** All pages that are in sight or have an open directory in them, of one generation if that can be had. */
  private async pagesOf(path: string): Promise<TreeDirectory> {
    for (let tried = 1; ; tried += 1) {
      const known = this.stale.has(path) ? undefined : this.tree.get().directories.get(path);
      const wanted = this.wantedPages(path).filter((page) => known?.pages.has(page) !== true);
      const last = tried === MAX_TRIES;
      if (wanted.length === 0 && known !== undefined) return known;
      // What changes from here on makes it old again.
      this.stale.delete(path);
      const answers = await Promise.all(
        wanted.map((page) => this.requests.ask({ type: 'list', path, offset: page * PAGE, limit: PAGE }, 'listed')),
      );
      const generation = Math.max(...answers.map((answer) => answer.generation));
      const together =
        answers.every((answer) => answer.generation === generation) &&
        (known === undefined || known.generation === generation);
      if (!together && !last) {
        this.stale.add(path);
        continue;
      }
      const old = known?.generation === generation ? known.pages : [];
      const fresh = answers.map((answer) => [answer.offset / PAGE, answer.entries] as const);
      return { generation, total: answers.at(-1)?.total ?? 0, pages: new Map([...old, ...fresh]) };
    }
  }

  private wantedPages(path: string): number[] {
    const known = this.tree.get().directories.get(path);
    const wanted = new Set(this.shown.get(path) ?? []);
    for (const [page, entries] of known?.pages ?? [])
      if (entries.some(({ name }) => this.tree.get().expanded.has(path === '' ? name : `${path}/${name}`)))
        wanted.add(page);
    const last = known === undefined ? 0 : Math.max(0, Math.ceil(known.total / PAGE) - 1);
    const pages = [...wanted].filter((page) => page <= last);
    return pages.length === 0 ? [0] : pages;
  }

  private put(path: string, directory: TreeDirectory): void {
    const { directories, expanded, problems } = this.tree.get();
    const rest = new Map(problems);
    rest.delete(path);
    this.tree.set({ directories: new Map([...directories, [path, directory]]), expanded, problems: rest });
    const whole = [...directory.pages.values()].reduce((sum, page) => sum + page.length, 0) >= directory.total;
    const names = new Set(
      [...directory.pages.values()].flatMap((page) =>
        page.filter(({ kind }) => kind === 'directory').map(({ name }) => name),
      ),
    );
    if (whole)
      for (const open of expanded)
        if (open !== '' && parentPath(open) === path && !names.has(nameOfPath(open))) this.collapse(open);
  }

  private fail(path: string, words: string): void {
    const { directories, expanded, problems } = this.tree.get();
    const rest = new Map(directories);
    rest.delete(path);
    this.tree.set({ directories: rest, expanded, problems: new Map([...problems, [path, words]]) });
  }
}
