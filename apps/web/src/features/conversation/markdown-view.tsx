'use client';
import { ScrollBox } from '@slipway/ui';
import { Square, SquareCheck } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { type ComponentProps, createElement, memo, type ReactNode } from 'react';
import { harden } from 'rehype-harden';
import { type Components, defaultRehypePlugins, Streamdown } from 'streamdown';
import { CopyButton } from '../../browser/copy-button.tsx';
import { HighlightedCode } from './highlighted-code.tsx';

/**
 * What an agent writes is untrusted. Raw HTML is sanitized, links go to whole http(s) and mail addresses only, and no
 * image is ever fetched: an address in an image would carry what the agent read out of the sandbox.
 */
const { raw, sanitize } = defaultRehypePlugins;
const REHYPE: ComponentProps<typeof Streamdown>['rehypePlugins'] = [
  ...(raw ? [raw] : []),
  ...(sanitize ? [sanitize] : []),
  [
    harden,
    {
      defaultOrigin: 'https://relative.invalid',
      allowedLinkPrefixes: ['*'],
      allowedImagePrefixes: [],
      allowDataImages: false,
      imageBlockPolicy: 'text-only',
      linkBlockPolicy: 'text-only',
    },
  ],
];

/** Cast: the library's type asks each tag for its own props and for open ones at once. */
const COMPONENTS = {
  a: ({ href, children }: { href?: string; children?: ReactNode }) =>
    href === undefined || !/^(https?|mailto):/i.test(href) || href.startsWith('https://relative.invalid') ? (
      children
    ) : (
      <a href={href} target="_blank" rel="noopener noreferrer nofollow" title={href}>
        {children}
      </a>
    ),
  img: ({ alt }: { alt?: string }) => alt ?? null,
  pre: ({ children }: { children?: ReactNode }) => <CodeBlock>{children}</CodeBlock>,
  code: ({ children, className }: { children?: ReactNode; className?: string }) => (
    <Code className={className}>{children}</Code>
  ),
  // Code of a block, too, where `pre` is our own: the library then takes it for a part of a line.
  inlineCode: ({ children, className }: { children?: ReactNode; className?: string }) => (
    <Code className={className}>{children}</Code>
  ),
  /** Only task lists have it. */
  input: ({ checked }: { checked?: boolean }) => <TaskMark done={checked === true} />,
  table: ({ children }: { children?: ReactNode }) => <TableBox>{children}</TableBox>,
  ...plain('hr', 'strong', 'em', 'thead', 'tbody', 'tr', 'sup', 'sub', 'del'),
  // Each block in the direction of its own first letters.
  ...directed('p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'ul', 'ol', 'li', 'blockquote', 'th', 'td'),
} as Components;

function TableBox({ children }: { children?: ReactNode }) {
  const t = useTranslations();
  return (
    <ScrollBox label={t('conversation.table')} className="table-scroll overflow-x-auto">
      <table>{children}</table>
    </ScrollBox>
  );
}

/** Plain tags, styled by `.prose`, in place of streamdown's own look. */
function plain(...tags: (keyof React.JSX.IntrinsicElements)[]): Record<string, keyof React.JSX.IntrinsicElements> {
  return Object.fromEntries(tags.map((tag) => [tag, tag]));
}

function directed(...tags: (keyof React.JSX.IntrinsicElements)[]): Record<string, unknown> {
  return Object.fromEntries(
    tags.map((tag) => [
      tag,
      ({ node: _, ...props }: { node?: unknown }) => createElement(tag, { ...props, dir: 'auto' }),
    ]),
  );
}

function Code({ children, className }: { children?: ReactNode; className?: string | undefined }) {
  const language = /language-([\w+#.-]+)/.exec(className ?? '')?.[1];
  return (
    <code className={className}>
      {language === undefined ? children : <HighlightedCode code={textIn(children)} language={language} />}
    </code>
  );
}

function TaskMark({ done }: { done: boolean }) {
  const t = useTranslations();
  const Mark = done ? SquareCheck : Square;
  return (
    <Mark
      role="img"
      aria-label={done ? t('conversation.done') : t('conversation.toDo')}
      className={done ? 'task-mark text-ok' : 'task-mark text-ink-muted'}
    />
  );
}

function CodeBlock({ children }: { children?: ReactNode }) {
  const t = useTranslations();
  return (
    <div className="group relative my-3">
      <ScrollBox
        label={t('conversation.code')}
        className="max-h-96 overflow-auto rounded-md border border-line bg-term p-3 leading-[18px]"
      >
        <pre dir="ltr">{children}</pre>
      </ScrollBox>
      <CopyButton
        label={t('conversation.copyCode')}
        text={() => textIn(children)}
        className="absolute top-1.5 right-1.5 border-line bg-surface"
      />
    </div>
  );
}

function textIn(node: ReactNode): string {
  if (typeof node === 'string' || typeof node === 'number') return String(node);
  if (Array.isArray(node)) return node.map(textIn).join('');
  if (node !== null && typeof node === 'object' && 'props' in node)
    return textIn((node.props as { children?: ReactNode }).children);
  return '';
}

export default memo(function MarkdownView({ text, streaming = false }: { text: string; streaming?: boolean }) {
  return (
    <Streamdown
      mode={streaming ? 'streaming' : 'static'}
      className="prose"
      components={COMPONENTS}
      rehypePlugins={REHYPE}
      controls={false}
      linkSafety={{ enabled: false }}
      parseIncompleteMarkdown={streaming}
    >
      {text}
    </Streamdown>
  );
});
