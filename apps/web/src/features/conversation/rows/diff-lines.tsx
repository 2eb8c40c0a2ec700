'use client';
import { cn } from '@slipway/ui';
import { CodeLine, useHighlighted } from '../highlighted-code.tsx';

export interface DiffLine {
  /** `@` stands for what is left out between two places. */
  readonly sign: '+' | '-' | ' ' | '@';
  readonly text: string;
}

/**
 * Lines of a change, one below the other, each with its sign. @param path of the file, whose name says its language.
 */
export function DiffLines({
  lines,
  path,
  wrap = false,
}: {
  lines: readonly DiffLine[];
  path?: string;
  wrap?: boolean;
}) {
  const coloured = useHighlighted(lines.map(({ text }) => text).join('\n'), path?.split('/').at(-1));
  return (
    <div className={wrap ? undefined : 'w-max min-w-full'} dir="ltr">
      {lines.map((line, index) => (
        <div
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines of one change never move
          key={index}
          className={cn(
            'flex gap-2 px-3',
            wrap ? 'whitespace-pre-wrap [overflow-wrap:anywhere]' : 'whitespace-pre',
            line.sign === '+' && 'bg-ok-soft',
            line.sign === '-' && 'bg-bad-soft',
          )}
        >
          <span
            className={cn(
              'w-2 shrink-0 select-none',
              line.sign === '+' ? 'text-ok' : line.sign === '-' ? 'text-bad' : 'text-ink-muted',
            )}
          >
            {line.sign === '@' ? '' : line.sign}
          </span>
          <span className={cn('min-w-0', line.sign === '@' ? 'text-ink-muted' : 'text-ink')}>
            {line.sign === '@' ? (
              `⋯ ${line.text}`.trimEnd()
            ) : (
              <CodeLine spans={coloured?.[index] ?? [{ text: line.text, look: '' }]} />
            )}
          </span>
        </div>
      ))}
    </div>
  );
}
