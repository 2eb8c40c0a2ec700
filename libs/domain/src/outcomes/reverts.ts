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

/** Of a message, names that are read. */
const MAX_NAMES = 20;
/** Of a history: whoever writes more reverts than this is not believed any more. */
const MAX_LINKS = 200;
/** Longest first line that is read. Characters. */
const MAX_SUBJECT = 500;
/** Shortest beginning of a hash that names a commit. Hexadecimal digits. */
const SHORTEST = 7;
/** At the beginning of a line, or `This reverts commit …`. */
const BY_SHA = /(?:^|\bthis +)reverts?(?: +merge)?(?: +commit)? +([0-9a-f]{7,64})\b/gim;
/** `Reverts acme/shop#12`, `Reverts #12`, `This reverts merge request acme/shop!12`. */
const BY_NUMBER = /(?:^|\bthis +)reverts?(?: +(?:merge|pull) +request)? +([\w./-]*)[#!](\d{1,9})\b/gim;
/** A host's own name for the branch of such a pull request. */
const BY_BRANCH = /^Merge (?:pull request #\d+ from \S*?|branch ')revert-(\d{1,9})-/i;
const BY_TITLE = /^revert:? ["“](.+)["”]$/i;
/** ` (#12)` at the end of a title, as GitHub adds it to what it squashes. */
const NUMBER_AT_END = / \([#!](\d{1,9})\)$/;
/** Of the pull request that a commit came by. */
const CAME_BY = [NUMBER_AT_END, /^Merge pull request #(\d{1,9})\b/i, /^See merge request (?:[\w./-]*)!(\d{1,9})$/im];

interface Named {
  readonly shas: readonly string[];
  readonly numbers: readonly { readonly repository: string; readonly number: number }[];
  readonly title: string | null;
}

/**
 * Whether a pull request is reverted, going by the commits after its merge: a revert of it takes it back, a revert of
 * that brings it in again, and the last of them decides.
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
    if (link === undefined || links.length > MAX_LINKS) continue;
    const takesBack = !link.takesBack;
    if (!takesBack) standing = null;
    else standing ??= commit;
    chain.add(sha);
    links.push({
      shas: [sha],
      repository: target.repository,
      number: numberOf(message),
      title: subjectOf(message),
      takesBack,
    });
  }
  return { standing, chain };
}

function subjectOf(message: string): string {
  return message.slice(0, MAX_SUBJECT).split('\n', 1)[0]?.trim() ?? '';
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
  const [, quoted] = BY_TITLE.exec(subject.replace(NUMBER_AT_END, '')) ?? [];
  const [, number] = NUMBER_AT_END.exec(quoted ?? '') ?? [];
  return {
    shas: some(message.matchAll(BY_SHA)).flatMap(([, sha]) => (sha === undefined ? [] : [sha.toLowerCase()])),
    numbers: [
      ...some(message.matchAll(BY_NUMBER)).map(([, repository = '', found]) => ({ repository, number: Number(found) })),
      ...[branch, number].flatMap((found) => (found === undefined ? [] : [{ repository: '', number: Number(found) }])),
    ],
    title: quoted ?? null,
  };
}

function some(found: Iterable<RegExpExecArray>): RegExpExecArray[] {
  const first: RegExpExecArray[] = [];
  for (const each of found) {
    if (first.length === MAX_NAMES) break;
    first.push(each);
  }
  return first;
}

function isNamed(target: RevertTarget, { shas, numbers, title }: Named): boolean {
  if (shas.some((sha) => sha.length >= SHORTEST && target.shas.some((own) => own.toLowerCase().startsWith(sha))))
    return true;
  const sameRepository = (named: string): boolean =>
    named === '' || named.toLowerCase() === target.repository.toLowerCase();
  if (
    target.number > 0 &&
    numbers.some(({ repository, number }) => number === target.number && sameRepository(repository))
  )
    return true;
  // A message that names a commit or a number means that one, whatever its title says.
  return (
    shas.length + numbers.length === 0 && title !== null && plain(title) === plain(target.title) && plain(title) !== ''
  );
}

/** Without the number of a pull request at its end, and without what makes it a draft. */
function plain(title: string): string {
  return title
    .slice(0, MAX_SUBJECT)
    .replace(NUMBER_AT_END, '')
    .replace(/^(?:draft:|wip:)/i, '')
    .trim()
    .toLowerCase();
}
