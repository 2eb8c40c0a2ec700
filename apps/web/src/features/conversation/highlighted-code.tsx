'use client';
import { useEffect, useState } from 'react';
import { type CodeSpan, highlightLines } from './highlight.ts';

/** Lines of code with their colours, once they are known; `null` until then, and where there are none. */
export function useHighlighted(code: string, language: string | undefined): ReadonlyArray<readonly CodeSpan[]> | null {
  const [known, setKnown] = useState<{
    readonly code: string;
    readonly lines: ReadonlyArray<readonly CodeSpan[]>;
  } | null>(null);
  useEffect(() => {
    if (language === undefined) return;
    let isWanted = true;
    // Text that streams is coloured when it pauses.
    const timer = setTimeout(() => {
      highlightLines(code, language).then(
        (lines) => isWanted && lines !== null && setKnown({ code, lines }),
        () => {},
      );
    }, 150);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [code, language]);
  return known?.code === code ? known.lines : null;
}

export function CodeLine({ spans }: { spans: readonly CodeSpan[] }) {
  return spans.map(({ text, look }, index) =>
    look === '' ? (
      text
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: a line has its spans in one order
      <span key={index} className={look}>
        {text}
      </span>
    ),
  );
}

/** Code that is coloured when its language is known and loaded; until then as it is. */
export function HighlightedCode({ code, language }: { code: string; language: string | undefined }) {
  const lines = useHighlighted(code, language);
  if (lines === null) return code;
  return lines.map((spans, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the lines of one text never move
    <span key={index}>
      {index === 0 ? null : '\n'}
      <CodeLine spans={spans} />
    </span>
  ));
}
