/** A commit of a branch, as its host lists it. */
export interface ListedCommit {
  readonly sha: string;
  /** When it was committed. */
  readonly at: Date;
  /** Whole. What others wrote: never trusted to be true, and only read for names of other commits. */
  readonly message: string;
}

/** What a revert may name. */
export interface RevertTarget {
  /** What brought it to the branch, and its own commits. */
  readonly shas: readonly string[];
  readonly repository: string;
  readonly number: number;
  readonly title: string;
}

export interface Reverts {
  /** The first revert that still holds; `null`: there is none. */
  readonly standing: ListedCommit | null;
  /** All commits that revert the target, or revert one of them: none of them is an edit. */
  readonly chain: ReadonlySet<string>;
}

/** Shortest beginning of a hash that names a commit. Hexadecimal digits. */
const SHORTEST = 7;
/** At the beginning of a line, or `This reverts commit …`. */
const BY_SHA = /(?:^|\bthis +)reverts?(?: +merge)?(?: +commit)? +([0-9a-f]{7,64})\b/gim;
/** `Reverts acme/shop#12`, `Reverts #12`, `This reverts merge request acme/shop!12`. */
const BY_NUMBER = /(?:^|\bthis +)reverts?(?: +(?:merge|pull) +request)? +([\w./-]*)[#!](\d{1,9})\b/gim;
/** A host's own name for the branch of such a pull request. */
const BY_BRANCH = /^Merge (?:pull request #\d+ from \S*?|branch ')revert-(\d{1,9})-/i;
const BY_TITLE = /^revert:? +["“](.+)["”](?: +\([#!](\d{1,9})\))?$/i;
/** Of the pull request that a commit came by. */
const CAME_BY = [/\([#!](\d{1,9})\)$/, /^Merge pull request #(\d{1,9})\b/i, /^See merge request (?:[\w./-]*)!(\d{1,9})$/im];

interface Named {
  readonly shas: readonly string[];
  readonly numbers: readonly { readonly repository: string; readonly number: number }[];
  readonly title: string | null;
}

/**
 * Whether a pull request is reverted, going by the commits after its merge: a revert of it takes it back, a revert of that brings it in again, and the last of them decides.
 * @param commits of its branch since the merge, the newest first, as hosts list them.
 */
export function revertsOf(target: RevertTarget, commits: readonly ListedCommit[]): Reverts {
  const links: Array<RevertTarget & { readonly takesBack: boolean }> = [{ ...target, takesBack: false }];
  const chain = new Set<string>();
  let standing: ListedCommit | null = null;
  for (const commit of commits.toReversed().toSorted((one, other) => one.at.getTime() - other.at.getTime())) {
    const { message, sha } = commit;
    const named = namedBy(message);
    const link = links.findLast((each) => isNamed(each, named));
    if (link === undefined) continue;
    const takesBack = !link.takesBack;
    if (!takesBack) standing = null;
    else standing ??= commit;
    chain.add(sha);
    links.push({ shas: [sha], repository: target.repository, number: numberOf(message), title: subjectOf(message), takesBack });
  }
  return { standing, chain };
}

function subjectOf(message: string): string {
  return (message.split('\n', 1)[0] ?? '').trim();
}

/** 0: the message names none. */
function numberOf(message: string): number {
  const subject = subjectOf(message);
  const [, found] = CAME_BY[0]?.exec(subject) ?? CAME_BY[1]?.exec(subject) ?? CAME_BY[2]?.exec(message) ?? [];
  return found === undefined ? 0 : Number(found);
}

function namedBy(message: string): Named {
  const subject = subjectOf(message);
  const [, branch] = BY_BRANCH.exec(subject) ?? [];
  const [, quoted, number] = BY_TITLE.exec(subject.replace(/ \([#!]\d{1,9}\)$/, '')) ?? [];
  const inner = quoted === undefined ? null : /^(.*?) +\([#!](\d{1,9})\)$/.exec(quoted);
  return {
    shas: [...message.matchAll(BY_SHA)].flatMap(([, sha]) => (sha === undefined ? [] : [sha.toLowerCase()])),
    numbers: [
      ...[...message.matchAll(BY_NUMBER)].map(([, repository = '', found]) => ({ repository, number: Number(found) })),
      ...[branch, number, inner?.[2]].flatMap((found) => (found === undefined ? [] : [{ repository: '', number: Number(found) }])),
    ],
    title: quoted ?? null,
  };
}

function isNamed(target: RevertTarget, { shas, numbers, title }: Named): boolean {
  if (shas.some((sha) => sha.length >= SHORTEST && target.shas.some((own) => own.toLowerCase().startsWith(sha)))) return true;
  const sameRepository = (named: string): boolean => named === '' || named.toLowerCase() === target.repository.toLowerCase();
  if (target.number > 0 && numbers.some(({ repository, number }) => number === target.number && sameRepository(repository))) return true;
  // A message that names a commit or a number means that one, whatever its title says.
  return shas.length + numbers.length === 0 && title !== null && plain(title) === plain(target.title) && plain(title) !== '';
}

/** Without the number of a pull request at its end, and without what makes it a draft. */
function plain(title: string): string {
  return title
    .replace(/ +\([#!]\d{1,9}\)$/, '')
    .replace(/^(?:draft:|wip:) */i, '')
    .trim()
    .toLowerCase();
}
