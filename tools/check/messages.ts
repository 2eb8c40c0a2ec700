// What keeps apps/web's catalogue whole: no words beside it, no message that nobody shows, no page without its
// messages.
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';
import { BASE } from '../../apps/web/src/messages/base.ts';
import { en } from '../../apps/web/src/messages/en/index.ts';

/** A message of the catalogue, as the sources name it. */
const KEY = /^[a-z][A-Za-z]*\.[a-z][A-Za-z0-9]*$/;
/** Attributes whose text a user reads or hears. */
const READ = /^(?:alt|aria-label|confirmLabel|description|heading|hint|label|listLabel|noun|placeholder|title|what)$/;

interface Source {
  /** Below apps/web/src. */
  readonly file: string;
  readonly imports: readonly string[];
  /** Message keys, each with the names of the arguments that it is given; `null` where the key is only named. */
  readonly keys: ReadonlyArray<{ readonly key: string; readonly args: readonly string[] | null }>;
  /** Features that the file gives to what it renders, `<WithMessages of={[…]}>`. */
  readonly gives: readonly string[];
  /** Words that stand beside the catalogue. */
  readonly words: readonly string[];
}

// biome-ignore lint/suspicious/noExplicitAny: a syntax tree of any source
type Node = any;

function namesOf(object: Node): readonly string[] | null {
  if (object === undefined) return [];
  if (object.type !== 'ObjectExpression') return null;
  return object.properties.map((property: Node) => property.key?.name ?? '…');
}

export function readSource(file: string, text: string): Source {
  const { program, errors } = parseSync(file, text);
  if (errors[0] !== undefined) throw new Error(`${file}: ${errors[0].message}`);
  const imports: string[] = [];
  const keys: Array<{ key: string; args: readonly string[] | null }> = [];
  const called = new Set<number>();
  const gives: string[] = [];
  const words: string[] = [];
  const line = (at: number): number => text.slice(0, at).split('\n').length;
  const follow = (specifier: string): void => {
    if (specifier.startsWith('.')) imports.push(path.posix.join(path.posix.dirname(file), specifier));
  };
  const keysIn = (node: Node): Node[] =>
    node?.type === 'ConditionalExpression'
      ? [...keysIn(node.consequent), ...keysIn(node.alternate)]
      : node?.type === 'Literal'
        ? [node]
        : [];
  new Visitor({
    ImportDeclaration: (node: Node) => {
      if (node.importKind !== 'type') follow(node.source.value);
    },
    ExportNamedDeclaration: (node: Node) => {
      if (node.source) follow(node.source.value);
    },
    ImportExpression: (node: Node) => {
      if (node.source.type === 'Literal') follow(node.source.value);
    },
    CallExpression: (node: Node) => {
      const rich = node.callee.type === 'MemberExpression' && node.callee.property.name === 'rich';
      if (
        !rich &&
        !(node.callee.type === 'Identifier' && node.callee.name === 't') &&
        !(node.callee.type === 'MemberExpression' && node.callee.property.name === 't')
      )
        return;
      for (const key of keysIn(node.arguments[0])) {
        called.add(key.start);
        keys.push({ key: key.value, args: namesOf(node.arguments[1]) });
      }
    },
    Literal: (node: Node) => {
      if (typeof node.value === 'string' && KEY.test(node.value) && !called.has(node.start))
        keys.push({ key: node.value, args: null });
    },
    JSXText: (node: Node) => {
      if (/\p{L}{2}/u.test(node.value))
        words.push(`${file}:${line(node.start)}: ${node.value.trim().replaceAll(/\s+/g, ' ')}`);
    },
    JSXAttribute: (node: Node) => {
      const name: unknown = node.name.name;
      if (name === 'of' && node.value?.expression?.type === 'ArrayExpression')
        gives.push(...node.value.expression.elements.map(({ value }: Node) => value));
      const literal = node.value?.type === 'Literal' ? node.value : null;
      if (literal !== null && typeof name === 'string' && READ.test(name) && /\p{L}{2}/u.test(literal.value))
        words.push(`${file}:${line(node.start)}: ${name}="${literal.value}"`);
    },
  }).visit(program);
  return { file, imports, keys, gives, words };
}

/** Every source that a page reaches. */
function reach(sources: ReadonlyMap<string, Source>, start: string): Source[] {
  const found = new Map<string, Source>();
  const queue = [start];
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    const source = sources.get(file);
    if (source === undefined || found.has(file)) continue;
    found.set(file, source);
    queue.push(...source.imports);
  }
  return [...found.values()];
}

/** The features whose messages a page needs, by its file. */
function neededBy(sources: ReadonlyMap<string, Source>, page: string): ReadonlySet<string> {
  return new Set(reach(sources, page).flatMap(({ keys }) => keys.map(({ key }) => key.split('.')[0] as string)));
}

function readSources(web: string): ReadonlyMap<string, Source> {
  const files = globSync('**/*.{ts,tsx}', { cwd: web }).filter(
    (file) => !/\.test\.ts$|^messages\/en\/|\.d\.ts$/.test(file),
  );
  return new Map(
    files.map((file) => [
      file.split(path.sep).join('/'),
      readSource(file.split(path.sep).join('/'), readFileSync(path.join(web, file), 'utf8')),
    ]),
  );
}

/** Names of the arguments and tags of a message, by ICU's syntax as far as the catalogue uses it. */
export function argsOf(message: string): ReadonlySet<string> {
  const found = new Set<string>([...message.matchAll(/<([a-zA-Z0-9]+)>/g)].map(([, tag = '']) => tag));
  let at = 0;
  /** Text up to the brace that closes it. */
  const inside = (): void => {
    for (; at < message.length && message[at] !== '}'; at += 1) {
      if (message[at] === "'" && /[{}<]/.test(message[at + 1] ?? '')) at = message.indexOf("'", at + 2);
      else if (message[at] === '{') argument();
    }
  };
  const argument = (): void => {
    const [, name = '', , kind] = /^\{(\w+)(,\s*(\w+)(?:,)?)?/.exec(message.slice(at)) ?? [];
    found.add(name);
    at += message.slice(at).search(/[,}]/);
    if (kind === 'plural' || kind === 'select' || kind === 'selectordinal') {
      for (at += 1; at < message.length && message[at] !== '}'; at += 1)
        if (message[at] === '{') {
          at += 1;
          inside();
        }
    } else at = message.indexOf('}', at);
  };
  inside();
  return found;
}

type Catalogue = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Messages that code looks up by a name that it puts together. */
const BY_NAME: ReadonlySet<string> = new Set(['auditActions', 'auditNouns', 'permissions']);

/** What is wrong with the screens' words. @param base features that every page has. */
export function wrongWords(
  sources: ReadonlyMap<string, Source>,
  catalogue: Catalogue,
  base: readonly string[],
): string[] {
  const wrong: string[] = [];
  const used = new Set<string>();
  for (const { file, keys, words } of sources.values()) {
    for (const each of words) wrong.push(`apps/web/src/${each}: move these words into messages/en`);
    for (const { key, args } of keys) {
      const [feature = '', name = ''] = key.split('.');
      const message = catalogue[feature]?.[name];
      if (message === undefined) continue;
      used.add(key);
      if (args === null || args.includes('…')) continue;
      const wanted = argsOf(message);
      const off = [...[...wanted].filter((arg) => !args.includes(arg)), ...args.filter((arg) => !wanted.has(arg))];
      if (off.length > 0) wrong.push(`apps/web/src/${file}: ${key} and its message differ in ${off.join(', ')}`);
    }
  }
  for (const [feature, messages] of Object.entries(catalogue))
    for (const name of Object.keys(messages))
      if (!used.has(`${feature}.${name}`) && !BY_NAME.has(feature))
        wrong.push(`apps/web/src/messages/en: nobody uses ${feature}.${name}`);
  for (const page of [...sources.keys()].filter((file) =>
    /^app\/.*\b(?:page|layout|error|not-found)\.tsx$/.test(file),
  )) {
    const given = new Set([...base, ...(sources.get(page)?.gives ?? [])]);
    const missing = [...neededBy(sources, page)]
      .filter((feature) => catalogue[feature] !== undefined && !given.has(feature))
      .sort();
    if (missing.length > 0)
      wrong.push(`apps/web/src/${page}: give it the messages of ${missing.join(', ')} (WithMessages)`);
  }
  return wrong;
}

export const wrongWordsOf = (root: string): string[] =>
  wrongWords(readSources(path.join(root, 'apps/web/src')), en, BASE);
