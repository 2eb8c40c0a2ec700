import {
  type CodeHost,
  type HostTree,
  harmlessMarkdown,
  ProviderRefusal,
  type RefusalKind,
} from '@slipway/integrations';

/** Most of a template that is taken. Characters. */
const MAX_TEMPLATE = 10_000;
/** What cannot be read is none; a host that is away is asked again later. */
const NONE: ReadonlySet<RefusalKind> = new Set(['missing', 'forbidden', 'invalid', 'conflict', 'unreadable']);

/**
 * The repository's own text for pull requests, as it stands in `commit`. `null`: it has none, or none that can be read.
 * A few requests.
 * @param paths in lower case, the first that is there counts; hosts take them in upper and lower case. @throws
 * ProviderRefusal when the host is away.
 */
export async function readTemplate(
  calls: CodeHost,
  repository: string,
  commit: string,
  paths: readonly string[],
): Promise<string | null> {
  const read = new Map<string, Promise<HostTree>>();
  const folder = (hash: string, path: string): Promise<HostTree> => {
    const known = read.get(path) ?? calls.tree(repository, { hash, at: { commit, path } });
    read.set(path, known);
    return known;
  };
  const find = async (wanted: readonly string[]): Promise<string | null> => {
    let [hash, path] = [commit, ''];
    for (const [index, part] of wanted.entries()) {
      const { entries, folders } = await folder(hash, path);
      const name = [...entries.keys()].find(
        (each) => each.toLowerCase() === part && folders.has(each) === index < wanted.length - 1,
      );
      if (name === undefined) return null;
      hash = entries.get(name) as string;
      path = path === '' ? name : `${path}/${name}`;
    }
    return hash;
  };
  try {
    for (const path of paths) {
      const hash = await find(path.split('/'));
      if (hash !== null) return await calls.blob(repository, hash);
    }
    return null;
  } catch (error) {
    if (error instanceof ProviderRefusal && NONE.has(error.kind)) return null;
    throw error;
  }
}

export interface TemplateParts {
  /** What was changed, and why. */
  readonly said: string;
  /** How it was checked, without a heading; empty: nothing is known of it. */
  readonly checked: string;
  /** The line that names the issue; empty: there is none. */
  readonly fixes: string;
}

interface Section {
  /** `null`: what stands before the first heading. */
  readonly heading: string | null;
  readonly content: string;
}

const HEADINGS: Readonly<Record<keyof TemplateParts, RegExp>> = {
  said: /^(?!.*\btype of\b).*\b(?:what|summary|descriptions?|changes?|overview|motivation|purpose|why|context)\b/i,
  checked: /\b(?:tests?|tested|testing|checked|verif\w+|validat\w+|qa)\b/i,
  fixes: /\b(?:issues?|tickets?|fix(?:es)?|closes|related)\b/i,
};
const CHECKED = '## How it was checked';

/**
 * The text of a pull request in the sections of the template. Each part goes below the first heading that asks for it;
 * one that no heading asks for stands apart, and what the template has beside, such as a list to tick off, is kept as
 * it is. Notes to authors (`<!-- -->`) are left out.
 */
export function withTemplate(template: string | null, parts: TemplateParts): string {
  const left: Record<keyof TemplateParts, string> = { ...parts };
  const filled = sectionsOf(template ?? '').map(({ heading, content }) => {
    if (heading === null) return content;
    // The narrower ones first: `What was tested` asks for tests.
    const part = (['checked', 'fixes', 'said'] as const).find(
      (each) => HEADINGS[each].test(heading) && left[each] !== '',
    );
    const own = part === undefined ? '' : left[part];
    if (part !== undefined) left[part] = '';
    return [heading, own, content].filter((each) => each !== '').join('\n\n');
  });
  const checked = left.checked === '' ? '' : `${CHECKED}\n\n${left.checked}`;
  return [left.said, ...filled, checked, left.fixes].filter((each) => each !== '').join('\n\n');
}

function sectionsOf(template: string): Section[] {
  const plain = template
    .slice(0, MAX_TEMPLATE * 2)
    .replaceAll(/\r\n?/g, '\n')
    .replace(/^\ufeff?---\n[\s\S]{0,4000}?\n---\n/, '')
    .replaceAll(/<!--[\s\S]*?(?:-->|$)/g, '');
  const sections: { heading: string | null; lines: string[] }[] = [{ heading: null, lines: [] }];
  let fence: string | null = null;
  for (const line of harmlessMarkdown(plain, MAX_TEMPLATE, 'the repository has all of it').split('\n')) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence === null && mark !== undefined) fence = mark;
    else if (fence !== null && mark?.startsWith(fence) === true) fence = null;
    if (fence === null && /^ {0,3}#{1,6} +\S/.test(line)) sections.push({ heading: line.trim(), lines: [] });
    else sections.at(-1)?.lines.push(line);
  }
  return sections.map(({ heading, lines }) => ({
    heading,
    content: lines
      .join('\n')
      .replaceAll(/\n{3,}/g, '\n\n')
      .trim(),
  }));
}
